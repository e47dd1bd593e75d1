# Every way to say it, with the requests of each part; what no request has is told.
awk -f $DATA/split.awk > orders.jsonl
parts() {
    echo "--split '$1'"
    pythia replay -q --split "$1" --format json orders.jsonl 2> told |
        jq -r '.split_by[].types[] | "  \(.found_by): \([.parts[] | "\(.part) \(.requests)"] | join(", "))"'
    sed 's/^/  /' told
}
parts 'queue=3'
parts 'queue=2.5,6'
parts 'queue'
parts 'queue@shop:pay'
parts 'queue=*'
parts 'queue={1,2},{7}'
parts 'host'
parts 'host={h00,h07},{h19}'
parts 'count:shop:pay=1'
parts 'has:shop:pay'
parts 'queue=3,100'
parts 'host={h00,nobody}'
parts 'queue@shop:order=3'
parts 'has:shop:nothing'
pythia replay -q --split 'queue=3' --split 'host={h00}' --format json orders.jsonl |
    jq -r '.request_types[] | "\(.name): \(.count), of \(.unsplit)"' | sort
