sed 's|/orders|/baskets|' $DATA/retry.jsonl > other.jsonl
pythia space build -q -o other.space other.jsonl
echo 'shop:http:POST /orders' > open.txt
pythia replay --verbose -q --space other.space --open open.txt $DATA/retry.jsonl | tail -1
exit ${PIPESTATUS[0]}
