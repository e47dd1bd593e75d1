# Three processes of which each has written its own file, and one clock is 5 ms ahead: a request is one tree all the same.
mkdir traces other
awk -v first=1 -v requests=2 -v puts=12 -v dir=traces -f $DATA/mobject.awk
pythia tree -n 1 traces
# All is exact: 12 puts of 0.4 ms in each of 2 requests are 9.6 ms, and sdskv's half of them 4.8.
pythia profile -q --format json traces | jq -c '.rows[] | [.callpath[-1], .side, .peer, .count, .total_ns]'
# A write with 11 puts is a group of its own.
awk -v first=3 -v requests=198 -v puts=12 -v dir=other -f $DATA/mobject.awk
for f in client mobject sdskv; do mv other/$f.trace $f-3.trace; done
awk -v first=201 -v requests=40 -v puts=11 -v dir=other -f $DATA/mobject.awk
pythia replay -q --no-fold --format json other *-3.trace | jq -c '.groups[] | [.request_type, .count, .mean_ns]'
# What is cut, or has a field too few, is counted, and the rest is read.
head -c -20 traces/client.trace > cut.trace
sed 's/, 0.000000000$//' traces/client.trace > short.trace
pythia replay cut.trace short.trace 2>&1 > /dev/null | sed 's/^pythia: //' | head -4
