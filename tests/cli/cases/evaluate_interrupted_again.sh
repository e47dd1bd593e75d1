# A second Ctrl-C, later than the first, ends it at once. It is stopped between them, since it would end by itself soon.
is_caught() { grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"; } # SIGINT is
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
for try in 1 2 3 4 5; do
    pythia evaluate --strategy random --problem bushy-50000 --seeds 100000 --threads 1 >part.json 2>err &
    until is_caught $! || ! kill -0 $!; do sleep .02; done
    kill -INT $!
    sleep .02
    kill -STOP $!
    sleep .5
    is_stopped $! || continue # it had ended already
    kill -INT $!
    kill -CONT $!
    wait $! && continue
    status=$?
    [ "$status" -ne 130 ] || break
done 2>/dev/null
echo "$status"
wc -c <part.json
