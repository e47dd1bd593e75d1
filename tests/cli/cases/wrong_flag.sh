pythia replay --colour red x.json
