# Each wrong value: a message and status 2. What cannot be read or written: status 1, and no half of a file.
wrong() { pythia generate "$@" >out; echo "$? $(wc -c <out)"; }
wrong --nodes 0
wrong --shape round
wrong --causes slep
wrong --causes sleep:
wrong --causes sleep:0
wrong --causes sleep:0.3:x
wrong --causes sleep:0.3:1:2
wrong --causes sleep:2
wrong --causes sleep,
wrong --causes none,sleep
wrong --causes ''
wrong --causes sleep,sleep,sleep,sleep,sleep,sleep,sleep,sleep,sleep
wrong --causes sleep:0.3:500
wrong --causes host --hosts 1
wrong --causes shift --nodes 2
wrong --strength -1
wrong --noise 0.9
wrong --truth - --output -
wrong --truth x --output x
wrong requests.jsonl
wrong --open missing.txt
pythia generate --output nowhere/requests.jsonl; echo $?
pythia generate --requests 1 --truth nowhere/truth.json --output requests.jsonl; echo $?
pythia generate >/dev/full; echo $?
echo old >kept.jsonl
(trap '' XFSZ; ulimit -f 64; pythia generate --output kept.jsonl); echo $?
cat kept.jsonl
ls
