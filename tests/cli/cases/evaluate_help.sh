pythia evaluate --help
