# The same bytes, whatever the order of files and the number of threads; from the closed loop, too.
awk -f $DATA/split.awk > orders.jsonl
split -l 19 orders.jsonl part.
for how in '--split queue' '--split host' '--split queue=3 --split host={h00},{h01}' '--closed-loop --cycle-requests 40 --split queue' \
    '--open skeleton --split host'; do
    pythia replay -q --format json --threads 1 $how part.* > one
    pythia replay -q --format json --threads 1 $how $(ls -r part.*) | cmp - one
    pythia replay -q --format json --threads 3 $how $(ls part.* | shuf) | cmp - one
    echo "$how: $(jq -c '[.split_by[].types[].parts | length]' one)"
done
