# Whatever the number of threads; and from the release build, if there is one.
run() { "$1" evaluate --strategy information-gain,historic,thompson --problem bushy-100,contention,null --seeds 3 --cycles 8 --format json --threads $2; }
run pythia 1 >one && run pythia 2 >two && run pythia 7 >seven || exit 1
cmp one two && cmp one seven && jq -c '[.trials, (.results | length)]' one
other=$ROOT/build/release/bin/pythia
[ ! -x "$other" ] || run "$other" 2 | cmp - one
pythia evaluate --from one --format json | cmp - one
for f in text csv markdown svg; do pythia evaluate --from one --format $f >one.$f && [ -s one.$f ] || echo "no $f"; done
pythia evaluate --strategy all --problem bushy-100 --seeds 2 --cycles 2 --format json >without
pythia evaluate --strategy all --problem bushy-100 --seeds 2 --cycles 2 --format json --times >with
jq -e '.results[0].decision_ns | .median > 0 and .max >= .median' with
jq 'del(.results[].decision_ns)' with | cmp - <(jq . without)
