# The parts of each call, by hand from what data/calls.awk says: of store's get, which takes 65 ms in the mean, 20 ms are the wait,
# 20 ms the call to shard, 2 and 1 ms what timers tell of, 13 ms its own, and the way there and back is 10 ms, of which 1 is
# told of. Nothing but the wait varies.
awk -v requests=4 -f $DATA/calls.awk > calls.jsonl
pythia breakdown -q calls.jsonl
echo
pythia breakdown -q --format json --callpath '*> store:get' calls.jsonl
# Without its span, the wait is in the rest of the target, which then has all the variance.
awk -v requests=40 -v queue=0 -f $DATA/calls.awk | pythia breakdown -q --callpath '*store:get' - | grep 'rest of'
# A rule says what a span is, a pattern which callpaths are shown.
pythia breakdown -q --part 'rdma=store:queue' --callpath '*store:get' calls.jsonl | grep -e bulk -e queue
pythia breakdown -q --part 'own=*' calls.jsonl || echo $?
pythia breakdown -q --part 'rdma' calls.jsonl || echo $?
# Nothing that is a call.
printf '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032d","spanId":"%016d","name":"a",' 1 1 > none.jsonl
printf '"startTimeUnixNano":"1","endTimeUnixNano":"5"}]}]}]}\n' >> none.jsonl
pythia breakdown -q none.jsonl
# Names from a trace are shown as what they are in every form: U+202E would turn the rest of the line around.
sed 's/"name":"get"/"name":"g\\u202e<b>t"/' calls.jsonl > hostile.jsonl
for form in text json markdown html; do
    pythia breakdown -q --format $form hostile.jsonl > out.$form
    printf '%s: %s\n' $form "$(grep -o 'g[\]u202e[^t]*t' out.$form | sort -u | tr '\n' ' ')"
    ! grep -q "$(printf '\342\200\256')" out.$form || echo "U+202E is in it"
    [ $form != html ] || ! grep -q '<b>' out.$form || echo "an element of the name is in it"
done
