# A key and a level of hostile bytes, pasted as the report has them into a shell, part what the report says; and nothing of
# them acts in a terminal or in a page.
key="it's \\\\\\\"a\$(touch pwned)\`touch pwned\`=%41,{b}\\u001b[31m\\u202e\\n--x"
level="<script>|**x**'; touch pwned; '{a,b}=%00\\u0007\\u00fc"
awk -v key="${key//\\/\\\\}" -v level="${level//\\/\\\\}" -f $DATA/split.awk > orders.jsonl
pythia replay -q --format json orders.jsonl > report.json
option=$(jq -r '.groups[0].splits[0].option' report.json)
echo "$option"
eval "pythia replay -q --format json $option orders.jsonl" > parts.json
jq -c '[.groups[0].splits[0].parts[] | .requests]' report.json
jq -c '[.split_by[0].types[0].parts[] | .requests]' parts.json
pythia replay -q --split host orders.jsonl --format json > hosts.json
jq -r '.split_by[0].types[0].parts[] | select(.part | test("script")) | .requests' hosts.json
for format in text markdown html; do
    for split in "$(jq -r '.split_by[0].split' parts.json)" host; do
        pythia replay -q --format $format --split "$split" orders.jsonl > page.$format
        grep -c "$(printf '[\033\007]')" page.$format
    done
done
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("page.html")' && echo well-formed
grep -ci '<script' page.html
ls pwned 2> /dev/null
true
