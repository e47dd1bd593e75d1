# Pins: they hold, and are told; what contradicts itself or the skeleton is wrong usage; what fits nothing is told.
contention=$DATASETS/openstack/contention.jsonl.zst
run() { pythia replay --verbose -q --closed-loop "$@" 2>&1 | sed '/^[0-9]* requests/,/^$/d; /^1\./,$d'; echo "exit ${PIPESTATUS[0]}"; }
run --always build_semaphore --never 'build_*' $contention
run --always '*' --never 'db:nova:*' $contention
run --never 'wsgi:nova:POST:/v2.1/servers' $contention
printf '# not to be traced\n\nbuild_semaphore  \nnothing:*\n' > never.txt
run --never @never.txt --never 'wsgi:nova:POST*' --always 'db:keystone:SELECT:fed*' $contention
printf 'build_semaphore\nwsgi:nova:POST:/v2.1/servers\n' > never.txt
run --never @never.txt $contention
run --never @nowhere.txt $contention
pythia replay -q --closed-loop --always build_semaphore --format json $contention |
    jq -c '.search.pins, [.loop[].open_count], .search.skeleton, (.search.problems[] | select(.state == "done") | .causes[0].edge.inside)'
# Without a search, what is pinned shut is not suggested.
pythia replay -q --open $DATASETS/openstack/open.txt --never build_semaphore --format json $contention |
    jq -c '[.next[].trace_point | select(. == "build_semaphore")] | length'
pythia replay --verbose --always build_semaphore $contention; echo "exit $?"
