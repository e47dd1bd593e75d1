# A key of which time moves from one place to another, while the total stays, is no reason for long durations; --verbose has it.
pythia generate --nodes 20 --requests 300 --distractors 2 --causes shift::1,uniform::0.3 >moved.jsonl
pythia replay -q moved.jsonl | sed -n '/CAUSE/,/SURE/p'
pythia replay -q --verbose moved.jsonl | grep 'of where it is spent' | head -1
