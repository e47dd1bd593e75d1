# Layers of trace points, and those that are none.
contention=$DATASETS/openstack/contention.jsonl.zst
printf '# what the service calls\nbuild_sema*=library\n' > layers.txt
pythia replay -q --closed-loop --layer @layers.txt --format json $contention |
    jq -r '(.loop[].opened[] | .trace_point, .reason), (.search.problems[] | select(.cycles > 0) | .state, .causes[].edge.inside)'
# A layer that costs too much is not gone down to: what calls it is the cause.
pythia replay -q --closed-loop --layer @layers.txt --price build_semaphore=1e12 --format json $contention |
    jq -r '([.loop[].opened[]] | length), (.search.problems[] | select(.cycles > 0) | .state, .causes[].edge.inside)'
for layer in db=Library db= db =kernel; do
    pythia replay -q --closed-loop --layer "$layer" $contention; echo "exit $?"
done
pythia replay -q --layer @nowhere.txt $contention; echo "exit $?"
pythia replay -q --layer nothing=kernel $DATA/retry.jsonl > /dev/null; echo "exit $?"
