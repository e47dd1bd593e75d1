mkdir -p folder/deep/er
cp $DATA/retry.jsonl folder/deep/er/traces.jsonl
echo 'not a trace' > folder/README
echo '{"a": 1}' > folder/deep/settings.json
: > folder/deep/empty
ln -s .. folder/deep/loop
mkfifo folder/pipe
pythia replay folder 2>&1 >/dev/null
