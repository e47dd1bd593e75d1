pythia
