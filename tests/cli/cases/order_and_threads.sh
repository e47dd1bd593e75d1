# The same bytes, whatever the order of files and the number of threads.
split -l 7 $DATA/retry.jsonl part.
pythia replay -q --format json --threads 1 part.* | jq 'del(.input)' > one
for n in 1 2 4; do
    pythia replay -q --format json --threads $n $(ls -r part.*) | jq 'del(.input)' | cmp - one
done
pythia replay -q --format json --threads 1 part.* > a
pythia replay -q --format json --threads 3 $(ls -r part.*) | cmp - a
pythia replay -q --format json --threads 1 $(ls part.* | shuf) | cmp - a && echo same
