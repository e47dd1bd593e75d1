# The time series of a service as margo writes them with json-c: slashes are escaped, times have jitter, an RPC joins later, and two
# that margo has no name for share a key. 300 samples: a pool that is full from the 200th second on, and 7 puts of 4 KiB a second.
python3 - > 'yokan.node-3.4711.series.json' <<'END'
import json
import random

draw = random.Random(5)
times = [1_700_000_000 + i + draw.randint(0, 40_000) / 1e6 for i in range(300)]
rpc = lambda at, count, size: {"timestamps": at, "count": [count] * len(at), "bulk_size": [size] * len(at)}
pool = lambda size, total: {"timestamps": times, "size": [size(i) for i in range(300)],
                            "total_size": [total(i) for i in range(300)]}
pools = {"__primary__": pool(lambda i: 1, lambda i: 3),
         "__rpc__": pool(lambda i: 64 if i >= 200 else i % 16, lambda i: 96 if i >= 200 else 20 + i % 16)}
text = json.dumps({"address": "ofi+tcp;ofi_rxm://10.0.0.3:40213",
                   "rpcs": {"yokan_put:42": rpc(times, 7, 7 * 4096), "yokan_get:42": rpc(times[250:], 2, 0),
                            "<unknown>": rpc(times, 1, 0), "<unknown> ": rpc(times, 5, 0)}, "pools": pools})
print(text.replace("<unknown> ", "<unknown>").replace("/", "\\/"))
END
pythia series --format json yokan.node-3.4711.series.json > series.json
jq -c '.series[] | [.label, .count, .mean, .min, .max]' series.json
