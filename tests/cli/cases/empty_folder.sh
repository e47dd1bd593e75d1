mkdir folder
pythia replay folder
