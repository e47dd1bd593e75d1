pythia --version
