# Records of libpythia-tracepoints, whole and broken, plain and packed.
records=$ROOT/tests/corpus/native
pythia tree --quiet --keys "$records/valid/nested/input"
zstd -qc "$records/valid/one-span/input" | pythia tree --quiet --keys -
cp "$records/invalid/cut-by-another-frame/input" cut.records
cat "$records/valid/clock-set/input" "$records/valid/lost/input" >lost.records
pythia tree --slowest 9 cut.records
pythia tree --slowest 9 lost.records
pythia replay --input-format native --format json cut.records | jq -c '.input | [.spans, .traces, .repaired, .dropped]'
