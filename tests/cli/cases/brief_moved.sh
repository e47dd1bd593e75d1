# A key that moves time from one place to another, while the total stays, does not correlate with the duration.
pythia generate --nodes 20 --requests 300 --distractors 2 --causes shift,sleep >moved.jsonl
pythia replay -q moved.jsonl | sed -n '/CAUSE/,/SURE/p'
