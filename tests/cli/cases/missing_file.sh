# One error for a file that is not there, no report, and no file or folder for one; whatever else is named is there.
one() {
    pythia "$@" > out 2> err
    echo "$*: status $?, $(wc -c < out) bytes, $(grep -c error: err) error"
}
cp $DATA/retry.jsonl .
for command in replay compare 'space build' tree profile breakdown export\ --to\ zipkin shuffle\ --parts\ 2\ parts; do
    one $command nowhere.json retry.jsonl
    one $command retry.jsonl nowhere.json
done
for command in 'space show' series merge 'evaluate --from' 'generate --open' 'runs list --db'; do
    one $command nowhere.json
done
for option in --space --open --series --never=@nowhere.json --price=@nowhere.json --always=@nowhere.json; do
    [ "${option#*=}" != "$option" ] && one replay --closed-loop $option retry.jsonl || one replay $option nowhere.json retry.jsonl
done
one run --points nowhere.json -- true
one replay --output report.txt nowhere.json
ls
