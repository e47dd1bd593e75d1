# Each mistake with its place, its cause and what to do; nothing is read for it.
awk -f $DATA/split.awk > orders.jsonl
for spec in '' '=3' 'queue=' 'queue=x' 'queue=3,' 'queue=10,3' 'queue=3,3' 'queue=nan' 'queue=inf' 'queue={a' 'queue={a}{b}' \
    'queue={a,a}' 'queue=%2' 'has:shop:pay=3' 'count:shop:pay=*' "$(printf 'a\033[31m\n\377=')"; do
    pythia replay --verbose -q --split "$spec" orders.jsonl; echo "exit status $?"
done
pythia replay --verbose -q --split queue=3 --split queue orders.jsonl; echo "exit status $?"
pythia compare -q --split queue=x orders.jsonl orders.jsonl; echo "exit status $?"
echo "what looks at all requests first needs them twice"
pythia replay --verbose -q --split queue - < orders.jsonl; echo "exit status $?"
pythia replay --verbose -q --split queue=3 - < orders.jsonl > /dev/null; echo "exit status $?"
echo "a key that no request has: the report is written, and the exit status says that something failed"
pythia replay --verbose -q --split 'quueue=3' orders.jsonl | head -1; echo "exit status ${PIPESTATUS[0]}"
pythia replay --verbose -q --open skeleton --split 'queue=3' orders.jsonl > /dev/null; echo "exit status $?"
pythia compare -q --split 'quueue=3' orders.jsonl orders.jsonl > /dev/null; echo "exit status $?"
pythia replay --verbose -q --split 'queue=3' $(for i in $(seq 64); do echo "--split k$i"; done) orders.jsonl; echo "exit status $?"
