# Half of the requests fail and end early: that comes before the number that only the others have, and before small groups.
pythia generate --nodes 100 --distractors 2 --causes failing:0.5:0.3 --seed 3 --requests 100 --output requests.jsonl
pythia replay --verbose --quiet requests.jsonl
pythia replay --quiet --format markdown requests.jsonl | grep "end early"
pythia replay --quiet --format html requests.jsonl | grep -o "end early: they never reach"
