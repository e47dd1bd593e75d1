pythia generate --help
