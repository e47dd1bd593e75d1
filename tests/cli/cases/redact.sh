# What may be seen of values: kept, hashed by a secret, or dropped. A hash explains as well as the value did.
pythia generate --nodes 30 --requests 300 --seed 5 --causes host > traces.jsonl
echo 000102030405060708090a0b0c0d0e0f > secret
chmod 600 secret
found() {
    pythia replay -q --format json "$@" traces.jsonl > report.json
    jq -r '[.groups[0].explanations[] | .key + ": " + (.split.condition // "-") + ", " + (.effect * 1000 | round | tostring)][0],
           (.input | {hashed_values, dropped} | tostring)' report.json
    grep -c "$value" report.json
}
value=$(pythia replay -q --format json traces.jsonl | jq -r '.groups[0].explanations[0].profile[0].value')
echo "the value: $value"
found
found --redact 'host*: hash' --redact-secret secret
found --redact '*: keep' --redact 'host*: drop'
found --redact 'host*: drop'
found --redact default --redact-secret made
stat -c '%a %s' made
# The same secret gives the same bytes.
pythia replay -q --format json --redact 'host*: hash' --redact-secret secret traces.jsonl | md5sum > first
pythia replay -q --format json --threads 3 --redact 'host*: hash' --redact-secret secret traces.jsonl | md5sum | cmp - first && echo the same
pythia replay --redact 'host: hide' traces.jsonl
echo $?
pythia replay --redact 'host: hash' traces.jsonl
echo $?
pythia tree --redact 'host: hash' --redact-secret traces.jsonl traces.jsonl 2>&1 | cut -c1-100
