# What the processes of a service have summed up, by hand: client calls read_op 10 times (1 s) and write_op 5 times (.4 s) of mobject,
# which took .9 and .35 s there, and 2 more calls of another client that wrote no file. read_op called list 10 times, .6 s, .5 s at the
# store. So of 17 requests and 1.5 s (1 + .4 + .1 of the untraced client), client's own are .1 and .05 s, mobject's .4 (= .9 + .1 - .6)
# and .35, its call's .1, the store's .5. The store names only its own RPC.
mkdir profiles
cat > write.py <<'P'
IDS = {"mobject_read_op": 0x1111, "mobject_write_op": 0x2222, "sdskv_list_keyvals_rpc": 0x3333}
def write(pid, address, own, names, lines, width=25):
    with open(f"profiles/profile-host-{pid}.csv", "w") as to:
        print(len(names), f"{own},{address}", *(f"0x{IDS[n]:04x},{n}" for n in names), sep="\n", file=to)
        for path, peer, side, total, least, most, calls in lines:
            crumb = 0
            for name in path:
                crumb = crumb << 16 | IDS[name]
            ids = " ".join(f"0x{IDS[n]:04x}" for n in reversed(path))
            sums = f"{ids},{total / calls:.9f},{crumb},{peer},{side},{total:.9f},"
            sums += ("0.1," * 6 + "64," if width == 25 else "") + f"{least:.9f},{most:.9f},{calls}," + "1,2,3,4,5,6"
            print(sums + ",0.1,0.1,0.1" * (width == 25), f"{ids},{side};" + "0.5,3, 0;" * 100, sep="\n", file=to)
R, W, L = "mobject_read_op", "mobject_write_op", "sdskv_list_keyvals_rpc"
write(1, "ofi+tcp://client", 11, [R, W], [([R], 22, 0, 1.000000001, .05, .2, 10), ([W], 22, 0, .4, .07, .09, 5)])
write(2, "ofi+tcp://mobject", 22, [R, W, L], [([R], 11, 1, .9, .04, .19, 10), ([R], 99, 1, .1, .03, .07, 2),
                                              ([W], 11, 1, .35, .06, .08, 5), ([R, L], 33, 0, .6, .01, .11, 10)])
write(3, "ofi+tcp://store", 33, [L], [([R, L], 22, 1, .5, .01, .1, 10)], width=15)
P
python3 write.py
echo ignored > profiles/readme.txt
pythia profile --summaries --pairs --per-instance profiles
pythia profile -q --summaries --format json profiles | jq -c '.rows[] | [.callpath[-1], .side, .count, .total_ns, .exclusive_ns, .min_ns, .max_ns, .p99_ns, .sd_ns]'
pythia profile -q --summaries --by name --sort count --top 2 profiles
# The same callpaths as those of a trace.
cat > profile-host-1.trace <<'T'
host
1
1
1, mobject_read_op
7, 1.000000000, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0
7, 1.100000000, 1, 3, 0, 0, 1, 3, 1, 0, 0, 0, 0, 0
T
pythia profile -q --format json profile-host-1.trace | jq -c '.rows[0].callpath[0]'
# margo: an RPC and its caller, whose id does not fit into 63 bits; what is done outside of RPCs is no call.
python3 - <<'P'
import json
BIG = 2**64 - 5
def s(num, least, most, mean, var):
    return {"num": num, "min": least, "max": most, "avg": mean, "var": var, "sum": num * mean}
def origin(to, *x):
    return {f"sent to {to}": {"iforward": {"duration": s(1, 9, 9, 9, 0)}, "forward_cb": {"duration": s(1, 9, 9, 9, 0),
            "relative_timestamp_from_iforward_start": s(*x)}}}
def target(of, *x):
    return {f"received from {of}": {"handler": {"duration": s(1, 9, 9, 9, 0)}, "ult": {"duration": s(*x)}}}
def rpc(parent, id, name, **sides):
    return f"{parent}:65535:{id}:65535", {"rpc_id": id, "parent_rpc_id": parent, "name": name, **sides}
json.dump({"address": "na+sm://1", "rpcs": dict([rpc(65535, BIG, "yokan_put", origin=origin("na+sm://2", 4, .01, .03, .02, .0001)),
          rpc(65535, 65535, "", target={"received from <unknown>": {"bulk": {}}})])}, open("a.stats.json", "w"))
json.dump({"address": "na+sm://2", "rpcs": dict([rpc(65535, BIG, "yokan_put", target=target("na+sm://1", 4, .01, .02, .015, 0)),
          rpc(BIG, 7, "bake_write", origin=origin("na+sm://3", 2, .001, .003, .002, .000001))])}, open("b.stats.json", "w"))
P
pythia profile --summaries --pairs a.stats.json b.stats.json
# sd, by hand: of 4 calls with a variance of .0001 s^2 divided by 4, sqrt(.0004 / 3) s.
pythia profile -q --summaries --format json a.stats.json b.stats.json | jq -c '.rows[] | [.callpath[-1], .total_ns, .sd_ns]'
# What is malformed is counted and told, with its line; the rest counts.
{ sed -n 1,5p profiles/profile-host-1.csv; echo '0x2222,0.08,8738,22,0,0.4'; echo '0x9999,1,39321,22,0,1,0,0,0,0,0,0,0,1,1,1,1,2,3,4,5,6,0,0,0'
  echo '0x2222,1,8738,22,2,1,0,0,0,0,0,0,0,1,1,1,1,2,3,4,5,6,0,0,0'; echo '0x2222,1,8738,22,0,nan,0,0,0,0,0,0,0,1,1,1,1,2,3,4,5,6,0,0,0'; echo '0x2222,1,8738,22,0,1,0,0,0,0,0,0,0,1,1,0,1,2,3,4,5,6,0,0,0'
  echo '0x2222,1,18446744073709551616,22,0,1,0,0,0,0,0,0,0,1,1,1,1,2,3,4,5,6,0,0,0'; echo '0x2222,1,8738,18446744073709551616,0,1,0,0,0,0,0,0,0,1,1,1,1,2,3,4,5,6,0,0,0'
  echo '0x2222,1,8738,22,0,1,0,0,0,0,0,0,0,1,1,18446744073709551616,1,2,3,4,5,6,0,0,0'; printf '0x2222,1,8738,22,0,1,0,0,0'
  } > broken.csv
pythia profile --summaries broken.csv | head -3
printf '3\n11,a\n0x1,x\n0x1,y\n65x,z\n' > names.csv; pythia profile --summaries names.csv; echo "exit $?"
echo '{"rpcs": {}}' > no.stats.json; echo '{"address": 1' > cut.stats.json; echo '{"address": "a", "rpcs": {"1:2": {}, "1:2:3:4": {"name": "x", "origin": {"to b": 1}}}}' > odd.stats.json
cp "$DATA/retry.jsonl" .; pythia profile --summaries no.stats.json cut.stats.json odd.stats.json retry.jsonl; echo "exit $?"
pythia profile --summaries --spark profiles; echo "exit $?"
gzip -k profiles/profile-host-3.csv; pythia profile -q --summaries --top 1 profiles/profile-host-3.csv.gz
