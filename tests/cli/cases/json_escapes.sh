# Control characters above U+007F, and those that turn or hide text, are escaped in JSON, and shown by their codes elsewhere:
# neither a terminal nor an editor acts on them. Read back, names are what they were.
raw() { LC_ALL=C.UTF-8 grep -cP '[\x{7f}-\x{9f}\x{ad}\x{200b}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{feff}\x{e0041}]'; }
name='pay\\u007f\\u009b31m\\u00ad\\u200b\\u202egpj\\u2066\\ufeff\\udb40\\udc41'
sed "s/\"pay\"/\"$name\"/" $DATA/retry.jsonl > escaped.jsonl
python3 -c 'import json
for line in open("escaped.jsonl"):
    print(json.dumps(json.loads(line), ensure_ascii=False))' > hostile.jsonl
echo "raw in the traces: $(raw < hostile.jsonl)"
pythia space build -q hostile.jsonl > space.json
echo "space: $(raw < space.json)"
for form in json text markdown html; do
    echo "replay $form: $(pythia replay -q --format $form hostile.jsonl | raw)"
done
echo "loop json: $(pythia replay -q --closed-loop --format json hostile.jsonl | raw)"
for to in zipkin chrome dot folded; do
    pythia export -q --to $to hostile.jsonl > exported.$to
    echo "export $to: $(raw < exported.$to)"
done
echo "compare json: $(pythia compare -q --format json hostile.jsonl $DATA/retry.jsonl | raw)"
for form in text json; do
    echo "tree $form: $(pythia tree -q --format $form hostile.jsonl | raw)"
done
echo "profile: $(pythia profile -q hostile.jsonl | raw)"
echo "log: $(pythia replay --closed-loop hostile.jsonl 2>&1 >/dev/null | raw)"
pythia replay -q --format json hostile.jsonl | python3 -c 'import json, sys
wanted = "pay\x7f\x9b31m\xad\u200b\u202egpj\u2066\ufeff\U000e0041"
text = sys.stdin.read()
def walk(value):
    if isinstance(value, dict):
        return any(walk(v) for v in value.values())
    if isinstance(value, list):
        return any(walk(v) for v in value)
    return isinstance(value, str) and wanted in value
print(walk(json.loads(text)), "\\u202e" in text, "\\udb40\\udc41" in text)'
