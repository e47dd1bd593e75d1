# An interrupt takes the line of progress away: the shell's prompt begins in the first column.
command -v script > /dev/null || exit 77
mkfifo pipe
(while cat $DATA/retry.jsonl; do :; done > pipe) 2> /dev/null & # without an end
script -qefc 'sh -c "echo \$\$ > pid; exec pythia replay pipe"' log < /dev/null > /dev/null &
until grep -aq spans log 2> /dev/null; do sleep .05; done
kill -INT "$(cat pid)"
wait %2; echo "status $?"
kill %1 2> /dev/null
# Behind the last progress comes nothing but the sequence that erases it.
grep -av '^Script' log | tr -d '\n' | tr '\r' '\n' | tail -n 1 | cat -v
