pythia --help
