# A full device, and a file that may not grow: a message, and no half of a report is left.
pythia replay -q $DATA/retry.jsonl > /dev/full; a=$?
echo old > report.json
(trap '' XFSZ; ulimit -f 4; pythia replay -q --format json -o report.json $DATA/retry.jsonl); b=$?
echo $a $b; cat report.json; ls
pythia replay -q -o nowhere/report.txt $DATA/retry.jsonl; echo $?
for words in 'pythia --help' 'pythia replay --help' 'pythia --version' 'pythiad --help' 'pythiad --version'; do
    $words > /dev/full 2> said; echo "$words: $? $(sed 's/^[a-z]*: //' said)"
done
