# The figures that Ramesh et al. (SYMBIOSYS, IPDPS 2021) report: handler 26.6 % of the target's time in C1 and 14 % in C2, which takes
# 53.3 % less; C3 28.5 % less than C2; C4 475 times as fast as C5; C6 40 % less than C5, 47 % less of it unaccounted; C7 75 and 90 %
# less than C6; input deserialization 27 % in Sonata. Noise of 2 % leaves three digits of means over 1024 requests.
figures() {
    pythia generate --like $1 -r 1024 | tee $1.jsonl | pythia breakdown -q --format json - | jq ".callpaths[0] | {call: .origin.mean_ns, parts} |
        .target = .call - .parts.in_ser.mean_ns - .parts.o_cb.mean_ns - .parts.unaccounted.mean_ns |
        {call, handler: (.parts.handler.mean_ns / .target), in_deser: (.parts.in_deser.mean_ns / .target), rest: .parts.unaccounted.mean_ns}" > $1.json
}
for c in sonata hepnos-c1 hepnos-c2 hepnos-c3 hepnos-c4 hepnos-c5 hepnos-c6 hepnos-c7; do figures $c; done
percent() { jq -sr "($1) * 1000 | round / 10" sonata.json hepnos-c[1-7].json; }
echo "sonata: deserialization $(percent '.[0].in_deser')"
echo "handler: C1 $(percent '.[1].handler'), C2 $(percent '.[2].handler')"
echo "time: C2 $(percent '.[2].call / .[1].call - 1'), C3 $(percent '.[3].call / .[2].call - 1'), C6 $(percent '.[6].call / .[5].call - 1'),\
 C7 $(percent '.[7].call / .[6].call - 1')"
echo "unaccounted: C6 $(percent '.[6].rest / .[5].rest - 1'), C7 $(percent '.[7].rest / .[6].rest - 1')"
echo "C4 is $(jq -sr '.[5].call / .[4].call | round' sonata.json hepnos-c[1-7].json) times as fast as C5"
# What is planted is named first, for certain; in C3, C4 and C7 nothing is. Only in C5 a limit is reached, by 19 of 32 levels.
for c in 1 2 3 4 5 6 7; do
    pythia replay -q --format json hepnos-c$c.jsonl > report
    echo "C$c: $(jq -c '[.groups[].explanations[:1][] | .key, .q < 1e-3], [.saturated // [] | .[] | .key, .limit, .share]' report | tr '\n' ' ')"
    pythia generate --like hepnos-c$c -r 1 --truth truth.json > /dev/null
    jq -r .cause truth.json
done
# Mobject: the dominant callpaths, with exact sums: 8 reads of 10 ms, 7 writes of 6.5 and one of 6.1.
pythia generate --like mobject -r 16 > mobject.jsonl
pythia profile -q --top 5 --format json mobject.jsonl | jq -c '.rows[] | [.callpath[-1], .side, .count, .total_ns]'
pythia profile -q --callpath '*sdskv:*' --sort count --format json mobject.jsonl | jq -c '[.rows[].count] | add'
# A write of 11 calls is a group beside that of 12: of 640 requests 280 and 40.
pythia generate --like mobject -r 640 | pythia replay -q --no-fold --format json - | jq -c '.groups[] | [.request_type, .count]' | sort
# A million records are 250 000 requests of two spans, and each of them is read.
pythia generate --like symb-1m > symb.trace
grep -c '0.000000000$' symb.trace
pythia profile symb.trace 2>&1 > /dev/null | sed 's/, bytes=.*//'
pythia generate --like sonata --causes host || echo $?
