# Each example of the manual, as it stands there, in a folder that has what they speak of: it runs, and says what was
# promised. Those of series are in manual_examples_series, those of evaluate take long; ctl needs a daemon, and one of
# export a collector.
ln -s "$DATASETS" datasets
ln -s "$ROOT/README.md" .
mkdir -p traces/monday traces/tuesday shop
pythia generate -n 20 -r 100 --seed 1 --causes none | tee 02.jsonl > traces/monday/a.jsonl
pythia generate -n 20 -r 100 --seed 1 --services 2 --causes none > 03.jsonl
pythia generate -n 20 -r 100 --seed 1 | tee 01.jsonl > traces/tuesday/b.jsonl
pythia generate -n 20 -r 100 --seed 1 --services 2 > 04.jsonl
cp "$DATA"/series/* shop
mkdir profiles
printf '1\n11,na+sm://1\n0x1,put\n0x1,1,1,22,0,1,.1,.1,.1,.1,.1,.1,64,1,1,1,1,2,3,4,5,6,.1,.1,.1\n0x1,0;.5,3, 0;\n' > profiles/profile-host-1.csv
while read -r c; do
    pythia help $c | grep -v "otlp=http" | sed -n '/^Examples/,/^Exit/p' | grep -E '^  (pythia|printf) '
done > examples <<'C'
replay
check
merge
compare
space build
space show
tree
profile
export
run
runs list
runs show
runs trend
runs compare
runs regress
runs flame
runs export
runs import
generate
C
wc -l < examples
while IFS= read -r line; do
    line=$(echo "${line#  }" | sed 's,/var/tmp/shop,shop,')
    bash -o pipefail -c "$line" > out 2> err < /dev/null
    status=$?
    [ $status -eq 0 ] || { echo "$line: $status"; cat err; }
done < examples
jq '.trace_points | length' searches.json; jq '.traceEvents | length > 1000' requests.json; grep -q '<html' report.html
grep -c . open.txt; grep -vc ' [0-9]*$' paths.folded; jq -r '.causes | length' truth.json
grep -c 'class="f"' flame.svg; find exported -name '*.json' | wc -l; pythia runs list --db copy.db | wc -l; xmllint --noout regress.xml
# In the pages of formats, jq finds what the examples take from a report: a service, and an edge with its share.
mkdir a b
pythia generate -n 20 -r 300 --seed 1 --services 2 --causes none > a/before.jsonl
pythia generate -n 20 -r 300 --seed 1 --services 2 > b/after.jsonl
for page in comparison report; do
    bash -o pipefail -c "$(grep '^pythia .*| jq' "$ROOT/engine/report/pythia-$page.5.scd")" 2> err > "$page" || cat err
done
cat comparison; jq '.share > 0.9' report
