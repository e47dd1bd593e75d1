# What is read is not overwritten, by whatever name the output goes: an operand, a file in a folder, a file of an option.
cp $DATA/retry.jsonl traces.jsonl
ln traces.jsonl hard.jsonl
ln -s traces.jsonl soft.jsonl
mkdir -p folder/deep
ln traces.jsonl folder/deep/same.jsonl
pythia space build -q -o space.json traces.jsonl
cp traces.jsonl before
try() {
    echo "pythia $*"
    pythia "$@" >/dev/null
    echo "exit $?"
}
for output in traces.jsonl ./traces.jsonl hard.jsonl soft.jsonl; do
    try replay -q -o $output traces.jsonl
done
try replay -q --output traces.jsonl folder
try export -q --to chrome -o folder/deep/same.jsonl folder
try space build -q -o traces.jsonl traces.jsonl
try space show -o space.json space.json
try compare -q -o hard.jsonl before traces.jsonl
try replay -q --space space.json -o space.json traces.jsonl
cmp before traces.jsonl
cmp before folder/deep/same.jsonl
# What was written before may be written again, and so may a device.
try replay -q -o report traces.jsonl
try replay -q -o report traces.jsonl
try replay -q -o /dev/null traces.jsonl
