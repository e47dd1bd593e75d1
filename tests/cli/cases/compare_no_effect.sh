# No service is pointed at because requests got faster, or for less than a hundredth of their mean of 55.9 ms.
usual='-v way=500 -v rare=0'
awk $usual -v stock=20000 -v pay=30000 -f $DATA/waits.awk > before.jsonl
conclusion() {
    awk $usual -v side=1 "$@" -f $DATA/waits.awk > after.jsonl
    pythia compare -q before.jsonl after.jsonl | sed -n '/^Something/,/^$/p'
    pythia compare -q --format json before.jsonl after.jsonl |
        jq -c '.request_types[0] | [.effect_min_ns, (.edges[] | select(.clipped_ns.q != null and .clipped_ns.q < .05) | [.service, .score_ns, .slows])]'
}
echo '# 10 ms faster, of which payment takes 5 us more'
conclusion -v stock=10000 -v pay=30005
echo '# 9 ms faster, of which payment takes 1 ms more'
conclusion -v stock=10000 -v pay=31000
echo '# 5 us slower'
conclusion -v stock=20000 -v pay=30005
echo '# 558 us slower, then 559'
conclusion -v stock=20000 -v pay=30558
conclusion -v stock=20000 -v pay=30559
echo '# The mean of all requests falls, because many of another type are cheap'
conclusion -v stock=20000 -v pay=40000 -v home=3000
