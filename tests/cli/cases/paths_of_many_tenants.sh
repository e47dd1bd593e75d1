# Ten thousand paths of one route are one request type, whatever the order of files and the number of threads, in one file
# or in many; pages are types of their own.
types() { jq -c '[.request_types[] | [.name, .count]]' $1; }
mkdir parts backwards
awk -v n=10000 -f $DATA/paths.awk > all.json
split -l 500 all.json parts/part.
for part in parts/*; do tac $part > backwards/$(basename $part | tr a-z zyxwvutsrqponmlkjihgfedcba); done
pythia replay -q --threads 1 --points 0 --format json all.json > one
types one
for threads in 1 3; do
    pythia replay -q --threads $threads --points 0 --format json backwards | jq 'del(.input)' > two
    jq 'del(.input)' one | cmp - two && echo same
done
# A space that was learnt of all says it for the first requests, too; without it so few are too few to tell.
pythia space build -q all.json > space.json
head -40 all.json > few.json
pythia replay -q --points 0 --format json few.json > few
types few | tr ']' '\n' | grep -c tenants
pythia replay -q --points 0 --format json --space space.json few.json > few
types few
# The second of two sides may say it of the first.
awk -v n=30 -f $DATA/paths.awk > before.json
awk -v n=60 -v from=30 -f $DATA/paths.awk > after.json
pythia compare -q --format json before.json after.json > compared
jq -c '[.request_types[] | .name]' compared
# Standard input is read once: what came before a segment was known to be a variable stays what it was, and that is said.
pythia replay --points 0 - < after.json 2>&1 > /dev/null | sed 1q
pythia replay --points 0 - < all.json 2>&1 > /dev/null | sed 1q
pythia replay -q --points 0 --format json --space space.json - < few.json > streamed
types streamed
