: > empty.json
pythia replay empty.json
