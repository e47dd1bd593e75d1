# Ten spans, three of which take no time; one of those three has a key-value. Concise leaves the three out, verbose two of
# them: the one with a key-value hangs on "a" then, above what is left out.
b64() { printf %s "$1" | base64 -w0; }
printf 'time,v2,0,{"None":10,20,{"a":10,20,{"empty1":11,11,{"empty2":11,11,%s}}{"b":11,12,}{"c":12,13,}{"d":13,16,{"e":14,14.5,}{"f":15,15.00000009,}}{"g":16,20,{"h":17,19,}}}}\n' \
    "$(b64 "{'args': '[int](1)'}")" >tree.log
for mode in debug concise verbose; do
    echo "$mode: $(pythia tree -q -f json --mode $mode tree.log | jq -c '.[0] | [(.spans | length), .not_shown]')"
done
pythia tree -q --keys --format shares --mode verbose tree.log
pythia tree -q --mode concise tree.log
echo "--- of at least a second and a half"
pythia tree -q --format shares --min-duration 1.5 tree.log
echo "--- parents of what is shown"
pythia tree -q -f json --mode verbose tree.log | jq -c '.[0].spans | map(.trace_point) as $names | map([.trace_point, (if .parent == null then null else $names[.parent] end), .depth])[]'
echo "--- two requests"
sed 's/empty/other/g' tree.log >>tree.log2; cat tree.log >>tree.log2
pythia tree -q -f json --slowest 2 tree.log2 | jq -c 'map(.spans | length)'
