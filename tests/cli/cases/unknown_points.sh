# A space that knows 27 of 30 trace points of the only request type: the three others are told, in each form, and named,
# whatever the order of the input. One that is pinned shut is not, as that is meant; and with a space that knows them all
# there is nothing to tell.
made="--nodes 30 --requests 200 --causes sleep:0.3"
pythia generate --unknown 0.1 $made -o full.jsonl
pythia generate --unknown 0.1 --known $made | pythia space build -q -o known.json -
pythia replay --verbose -q --closed-loop --space known.json full.jsonl | sed -n '/^   space/,/^$/p'
pythia replay -q --closed-loop --space known.json --format markdown full.jsonl | grep 'does not know'
pythia replay -q --closed-loop --space known.json --format html full.jsonl | grep -o '[^>]*does not know[^<]*'
pythia replay -q --closed-loop --space known.json --format json full.jsonl | jq 'del(.input)' > report.json
jq -c .search.unknown_points report.json
tac full.jsonl > backwards.jsonl
pythia replay -q --closed-loop --space known.json --threads 2 --format json backwards.jsonl | jq 'del(.input)' | cmp - report.json && echo same
comm -13 <(jq -r '.trace_points[][0]' known.json | sort) <(pythia space build -q full.jsonl | jq -r '.trace_points[][0]' | sort)
pythia replay -q --closed-loop --space known.json --never api:op_000007 --format json full.jsonl | jq -c .search.unknown_points
pythia replay -q --closed-loop --format json full.jsonl | jq -c .search.unknown_points
