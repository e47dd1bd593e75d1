#!/usr/bin/env python3
"""Write a trace as LTTng does (Common Trace Format 1.8): lttng_trace.py FOLDER. Of 60 requests of a thread, each third has shard 2
and is 5 ms at its disk, others 1 ms. LTTng has discarded 7 events while the last one ran."""
import os
import struct
import sys

METADATA = """/* CTF 1.8 */
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { hostname = "till"; };
clock { name = monotonic; freq = 1000000000; offset = 1700000000000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time;
stream { id = 0; event.header := struct { u16 id; time timestamp; }; event.context := struct { u32 _vpid; u32 _vtid; };
  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num;
    u64 events_discarded; u32 cpu_id; }; };
"""
EVENTS = ("sell_begin", "sell_end", "disk_begin", "disk_end")
MS = 1_000_000


def event(name, at, shard):
    return struct.pack("<HQIIQ", EVENTS.index(name), at, 7, 8, shard)


def request(begin, shard):
    """Half a millisecond before its disk, and half after it."""
    disk = (5 if shard == 2 else 1) * MS
    return (event("sell_begin", begin, shard) + event("disk_begin", begin + MS // 2, shard) +
            event("disk_end", begin + MS // 2 + disk, shard) + event("sell_end", begin + MS + disk, shard))


def packet(number, begin, end, discarded, events):
    bits = 8 * (60 + len(events))
    return struct.pack("<IIQQQQQQI", 0xc1fc1fc1, 0, begin, end, bits, bits, number, discarded, 0) + events


def main(folder):
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as file:
        file.write(METADATA)
        for number, name in enumerate(EVENTS):
            file.write(f'event {{ name = "shop:{name}"; id = {number}; stream_id = 0; fields := struct {{ u64 _shard; }}; }};\n')
    requests = [request(i * 10 * MS, i % 3) for i in range(60)]
    last = requests.pop()
    with open(os.path.join(folder, "channel_0"), "wb") as file:
        file.write(packet(0, 0, 589 * MS, 0, b"".join(requests)))
        file.write(packet(1, 590 * MS, 600 * MS, 7, last))


if __name__ == "__main__":
    main(*sys.argv[1:])
