# The parts of traces are their spans: each trace is in one part, and the report of all parts is that of what they were
# made of, also where the spans of a trace are scattered over files of several formats.
C=$DATASETS/openstack/contention.jsonl.zst
# Long values are cut, and counted, when they are read first.
report() { pythia replay -q --format json "$@" | jq 'del(.input.sources, .input.bytes, .input.files, .input.long_values)'; }
zstd -dcq $C > events.jsonl
awk 'NR % 3 == 1' events.jsonl > one.jsonl
awk 'NR % 3 == 2' events.jsonl | gzip > two.gz
awk 'NR % 3 == 0' events.jsonl > three.jsonl
report $C > whole
for n in 1 7 64; do
    pythia shuffle --parts $n parts.$n three.jsonl one.jsonl two.gz 2> told || cat told
    tail -1 told
    report parts.$n | cmp - whole && echo same
done
ls parts.7
for part in parts.7/*; do pythia replay -q --format json $part | jq .input.traces; done | awk '{n += $1} END {print n}'

# Which part a trace is in depends on its id: other machines put theirs where this one does.
pythia shuffle -q --parts 7 again events.jsonl
for i in 0 6; do
    report parts.7/part-00$i.* > one
    report again/part-00$i.* | cmp - one && echo same part
done
pythia shuffle -q --threads 4 --parts 7 third events.jsonl && diff -r again third && echo same bytes

# Work that goes on under another trace id is not brought together with what began it.
pythia shuffle -q --parts 2 forks $ROOT/tests/corpus/osprofiler/valid/asynchronous-work/input
