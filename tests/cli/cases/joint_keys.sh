# Two keys that act as a difference: each explains half of what they explain together.
pythia generate --nodes 100 --distractors 20 --causes difference::0.3 --seed 1 --requests 100 --output requests.jsonl
pythia replay --verbose --quiet requests.jsonl | grep -A 2 "joint"
pythia replay --quiet --format markdown requests.jsonl | grep "together account"
pythia replay --quiet --format html requests.jsonl | sed 's:<[^>]*>::g' | grep -o "served_count and arrived_count together account for [0-9]* %"
pythia replay --quiet --format json requests.jsonl >report.json
python3 -c '
import json
joint = json.load(open("report.json"))["groups"][0]["joint"]
print([(key["key"], key["structural"], key["condition"], round(key["coefficient"], 1)) for key in joint["keys"]])
print({name: round(value, 2) for name, value in joint.items() if name != "keys"})'
