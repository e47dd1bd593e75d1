# Profiles of SYMBIOSYS, by hand. A client calls read_op of two mobjects 6 and 4 times, which takes 1 s: 100 ms a call, of which in_ser
# 2 and o_cb 3. At the targets: .6 s, 60 ms a call, and rdma 1, handler 10, in_deser 5, out_ser 4, and 7 more after the answer. They call
# the store's list 10 times, .3 s, .25 s there, in a file without intervals. So 30 of the 60 ms are calls, 25 their own, and
# 100 - 2 - 1 - 10 - 60 - 4 - 3 = 20 unaccounted. write_op (80 ms) has no file of its target. The pools had 35 and 50 tasks in the mean.
mkdir profiles
cat > write.py <<'P'
IDS = {"mobject_read_op": 0x1111, "mobject_write_op": 0x2222, "sdskv_list": 0x3333}
NONE = [0] * 6
def write(pid, own, lines, width=25):
    with open(f"profiles/profile-host-{pid}.csv", "w") as to:
        print(len(IDS), f"{own},ofi+tcp://{pid}", *(f"0x{id:04x},{n}" for n, id in IDS.items()), sep="\n", file=to)
        for path, peer, side, total, parts, calls, pools in lines:
            crumb = 0
            for name in path:
                crumb = crumb << 16 | IDS[name]
            ids = " ".join(f"0x{IDS[n]:04x}" for n in reversed(path))
            sums = [ids, total / calls, crumb, peer, side, f"{total:.9f}"]
            if width == 25:
                sums += [f"{x:.9f}" for x in parts] + [4096]
            sums += [total / calls / 2, total / calls * 2, calls] + pools
            if width == 25:
                sums += [0, 0, 0]
            print(*sums, sep=",", file=to)
            print(f"{ids},{side};0.5,3, 0;", file=to)
R, W, L = "mobject_read_op", "mobject_write_op", "sdskv_list"
# handler, completion_cb, in_ser, in_deser, out_ser, rdma; a side that does not measure one of them may write anything
write(1, 11, [([R], 21, 0, .6, [9, .018, .012, 9, 9, 9], 6, [9] * 6), ([R], 22, 0, .4, [9, .012, .008, 9, 9, 9], 4, [9] * 6),
              ([W], 21, 0, .4, NONE, 5, [0] * 6)])
write(2, 21, [([R], 11, 1, .36, [.06, .042, 9, .03, .024, .006], 6, [64, 2, 210, 96, 4, 300]),
              ([R, L], 33, 0, .18, NONE, 6, [0] * 6)])
write(3, 22, [([R], 11, 1, .24, [.04, .028, 9, .02, .016, .004], 4, [60, 1, 140, 90, 5, 200]),
              ([R, L], 33, 0, .12, NONE, 4, [0] * 6)])
write(4, 33, [([R, L], 21, 1, .15, NONE, 6, [0] * 6), ([R, L], 22, 1, .1, NONE, 4, [0] * 6)], width=15)
P
python3 write.py
pythia breakdown --summaries profiles
pythia breakdown -q --summaries --format json profiles > json
jq -c '.requests, .callpath_count, (.callpaths[] | [(.callpath[-1] | .client, .server), .calls, .origin, .exec, .pool])' json
jq -c '.callpaths[0].parts | map_values(.mean_ns / 1e6)' json
# Only the targets are there: a call lasts as long as they measured, 1 + 10 + 60 + 4 ms. Its caller's callpath has no calls.
rm profiles/profile-host-1.csv
pythia breakdown -q --summaries --top 1 profiles
rm profiles/profile-host-[23].csv
pythia breakdown -q --summaries profiles
pythia breakdown --summaries --part 'rdma=*' profiles; echo "exit $?"
