# Names are as short as they can be without two of them looking the same; keys too. Names with control characters cannot act.
span() { printf '%s{"traceId":"%016x","id":"%016x",%s"name":"%s","timestamp":%d,"duration":%d,"localEndpoint":{"serviceName":"%s"},"tags":{"host":"%s"}}\n' "$@"; }
{ printf '['
for i in $(seq 40); do
    slow=$((i % 2 ? 9000 : 1000)); at=$((1700000000000000 + i * 100000))
    span "$([ $i = 1 ] || echo ,)" $i $((i * 10)) '' 'GET /a' $at $((slow + 3000)) web h$((i % 2))
    span , $i $((i * 10 + 1)) "\"parentId\":\"$(printf %016x $((i * 10)))\"," com.shop.app.Store.read $((at + 100)) $slow store h$((i % 2))
    span , $i $((i * 10 + 2)) "\"parentId\":\"$(printf %016x $((i * 10)))\"," com.shop.app.Cache.read $((at + slow + 200)) $((slow / 4)) cache h$((i % 2))
done; printf ']'; } > made.json
pythia replay -q --trace-url 'http://jaeger/trace/{trace_id}?uiFind=x' made.json
sed 's/com.shop.app.Store.read/evil\\u001b[31m\\u202e/' made.json > evil.json
pythia replay -q evil.json | sed -n 3,5p
pythia replay -q evil.json | LC_ALL=C grep -c "$(printf '\033')"
# A path that a shell would split is quoted, so that the command can be run as it is.
cp made.json "two words's.json"
pythia replay -q "two words's.json" > out
eval "$(sed -n 's/^  NEXT   \(.*\)#.*/\1/p' out)" | head -2
