pythia replay --help
