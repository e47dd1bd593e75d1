# Names from traces do nothing in a terminal or a page.
awk -f $DATA/compare.awk > before.jsonl
awk -v after=1 -f $DATA/compare.awk > after.jsonl
sed -i 's/"charge"/"ch\\u001b[31m<script>|`\\n*a*"/g; s/"payment"/"pay\\u202ement<b>"/g; s/"fraud-check"/"[x](y)\\u0007"/g' *.jsonl
pythia compare -q before.jsonl after.jsonl | grep -c "$(printf '[\033\007]')"
pythia compare -q --verbose before.jsonl after.jsonl | grep -c "$(printf '[\033\007]')"
pythia compare -q --format html before.jsonl after.jsonl > page.html
grep -ci '<script\|<b>' page.html
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("page.html")' && echo well-formed
pythia compare -q --format markdown before.jsonl after.jsonl | grep -c "^- .shop:\[x\]"
pythia compare -q --format markdown before.jsonl after.jsonl | grep -E '^[|-].*(x|pay)' | head -4
