# Each wrong value: a message and status 2. What cannot be read or written: status 1, and no half of a file.
wrong() { pythia evaluate "$@" >out; echo "$? $(wc -c <out)"; }
wrong --strategy guess
wrong --strategy all,
wrong --strategy ,all
wrong --strategy all,all
wrong --strategy ''
wrong --strategy 'all, flat'
wrong --problem bushi
wrong --problem bushy,deep,bushy
wrong --problem "$(printf '\033[31m')"
wrong --list --problem bushi
wrong --seeds 0
wrong --seeds many
wrong --seed -1
wrong --points -1
wrong --cycles 0
wrong --requests -5
wrong --price-ns -1
wrong --threads 257
wrong --profile after
wrong --format html
wrong operand
wrong --from missing.json --strategy all
wrong --from missing.json
echo '{' >half.json && wrong --from half.json
echo '{"schema": "pythia.report/1"}' >other.json && wrong --from other.json
echo '{"schema": "pythia.evaluation/1", "strategies": [{"name": "a"}]}' >part.json && wrong --from part.json
one='--strategy all --problem bushy-100 --seeds 1 --cycles 1'
pythia evaluate $one --output nowhere/result.json; echo $?
pythia evaluate $one >/dev/full; echo $?
echo old >kept.json
(trap '' XFSZ; ulimit -f 16; pythia evaluate --strategy all --seeds 1 --cycles 1 --format json --output kept.json); echo $?
cat kept.json
ls
