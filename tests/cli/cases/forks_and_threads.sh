# Forked work is part of the request that began it, also where another thread puts the forked trace together: the same bytes for
# any number of threads, and what is broken is told once.
python3 - > events.jsonl <<'END'
import json
import random

draw = random.Random(1)
unit = "00000000-0000-0000-%04x-%012x"
events = []


def point(base, me, parent, name, at, **info):
    events.append((at, {"name": name, "base_id": unit % (1, base), "trace_id": unit % (2, me),
                        "parent_id": parent, "project": "shop", "service": "shop",
                        "timestamp": "2023-11-14T22:13:%02d.%06d" % (at // 1_000_000, at % 1_000_000), "info": info}))


for i in range(1, 3001):
    at, work, base, forked = i * 5000, draw.randint(100, 2000), i, 1_000_000 + i
    point(base, base * 4, unit % (1, base), "order-start", at)
    point(base, base * 4 + 1, unit % (2, base * 4), "ship", at + 10, child_id=unit % (1, forked))
    point(forked, forked * 4, unit % (1, forked), "pack-start", at + 20)
    point(forked, forked * 4, unit % (1, forked), "pack-stop", at + 20 + work)
    point(base, base * 4 + 2, unit % (2, base * 4), "wait-start", at + 30, wait_for=unit % (1, forked))
    point(base, base * 4 + 2, unit % (2, base * 4), "wait-stop", at + 40 + work)
    point(base, base * 4, unit % (1, base), "order-stop", at + 50 + work)
for n, (at, event) in enumerate(sorted(events, key=lambda e: e[0])):
    print("broken" if n == 20000 else json.dumps(event, separators=(",", ":")))
END
for threads in 1 2 5; do
    pythia replay --threads $threads --format json events.jsonl > report.$threads 2> told.$threads
    cmp report.1 report.$threads && cmp told.1 told.$threads && echo same
done
jq -c '[.input.traces, .request_types[0].name]' report.1
jq -c '[.groups[0].path[] | .trace_point]' report.1
grep -c 'events.jsonl:20001' told.1
