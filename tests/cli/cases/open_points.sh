pythia space build -q -o shop.space $DATA/retry.jsonl
echo 'shop:http:POST /orders' > open.txt
pythia replay --verbose -q --space shop.space --open open.txt $DATA/retry.jsonl
