# What tracing has cost a request is in each form of its tree: 17 hits of one point measured at 200 ns each, 17 of another
# at 1000 ns, so that a request with two hits of the first and one of the second has cost 1400 ns. One without prices says
# nothing.
{
    printf '%s\n' '{"spans":1}' '{"point":1,"id":"shop:pay","service":"shop","name":"pay"}' \
        '{"point":2,"id":"shop:GET /","service":"shop","name":"GET /"}'
    for i in $(seq 17); do printf '%s\n' '{"cost":200,"at":1}' '{"cost":1000,"at":2}'; done
    printf '%s\n' '{"trace":"1f","span":"a1","start":10000000000,"duration":7000000000,"at":2,"kind":2}' \
        '{"trace":"1f","span":"a2","parent":"a1","start":12000000000,"duration":3000000000,"at":1}' \
        '{"trace":"1f","span":"a3","parent":"a1","start":15000000000,"duration":1000000000,"at":1}'
} > priced.spans
grep -v cost priced.spans > free.spans
for file in priced free; do
    pythia tree -q $file.spans
    pythia tree -q --format shares $file.spans
    pythia tree -q --format json $file.spans | jq -c '.[0] | [.tracing_ns, (.spans | length)]'
done
