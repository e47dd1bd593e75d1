# A stream that says that one request in ten was kept speaks of all of them. 300 requests of one type stand for 3 000, and
# 100 of another, half of which was kept, for 200.
{
    awk -v n=300 -v id=aa -v name=cart -v ms=20 -v state=ot=th:e6666666666666 -f $DATA/sampled.awk
    awk -v n=100 -v id=bb -v name=checkout -v ms=300 -v state='x=y,ot=rv:abcdefabcdefab;th:8' -f $DATA/sampled.awk
} > sampled.json
pythia replay --verbose -q --points 0 sampled.json | grep -A 1 '^[0-9]* requests of'
pythia replay -q --points 0 --format markdown sampled.json | grep -o 'Sampled: .*'
pythia replay -q --points 0 --format html sampled.json | grep -o 'Sampled: [^<]*'
pythia replay -q --points 0 --format json sampled.json > report
jq -c '.sampling, (.request_types[] | [.name, .count, .seen]), (.groups[] | [.request_type, .count, .seen, .type_count, .sampled])' report
# 20 and 0 to 40 ms are 40 in the middle, 39.9967 of 300; 300 and 0 to 40 are 319.69 of 100: (3 000 * 39.9967 + 200 * 319.69) / 3 200.
jq -r '.mean_ns' report
# Nothing but counts and what depends on how many there are of each type differs from the same stream without weights.
sed 's/th:/xx:/' sampled.json > plain.json
pythia replay -q --points 0 --format json plain.json > plain
only='.groups[] | [.request_type, .mean_ns, .sd_ns, .p50_ns, .sampled, .edges, .status]'
jq -c "$only" report > one
jq -c "$only" plain | cmp - one && echo same groups
jq -c '.sampling, (.request_types[] | [.name, .count, .seen])' plain
# A recording and an export carry the weights on.
pythia export --to zipkin -q sampled.json > zipkin.json
pythia replay -q --points 0 --format json zipkin.json | jq -c .sampling
# What is no probability is counted, and no more.
sed 's/th:e6/th:E6/' sampled.json > wrong.json
pythia replay -q --points 0 --format json wrong.json | jq -c '.sampling, .input.repaired'
pythia profile -q sampled.json
pythia profile -q --by name sampled.json
# A search says it of the requests of its last cycle.
pythia replay --verbose -q --closed-loop --points 0 sampled.json | grep -o 'Sampled: .*'
