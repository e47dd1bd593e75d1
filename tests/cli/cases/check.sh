# What is expected of requests holds, is violated or cannot be judged: the report says it in each form, and the exit status.
D=$DATASETS/openstack/contention.jsonl.zst
cat > holds.yaml <<'Y'
- type: "*POST:/v2.1/servers"
  where: queue_length < 2
  p99: < 10s
Y
cat > violated.yaml <<'Y'
# 104 requests create a server; 44 of them find a queue of 2 or more
- type: "*POST:/v2.1/servers"
  p99: < 20s
  cov: < 0.5
- type: "*POST:/v2.1/servers"
  where: queue_length >= 2
  p99: < 20s
- type: "*DELETE:/v2.1/servers/{id}*"
  same_path_as: "*POST:/v2.1/servers"
- type: "*DELETE:/v2.1/servers/{id}*"
  same_path_as: nothing
- type: "*DELETE:/v3/{id}/volumes/{id}"
  p99: < 1s
Y
echo '[{"type": "nothing", "p99": "< 1ms"}]' > nothing.json
pythia check -q holds.yaml "$D" > out; echo "exit $?"; sed -n 3p out
pythia check -q violated.yaml "$D" > out; echo "exit $?"; sed -n 1,12p out
for form in markdown json html; do pythia check -q --format $form violated.yaml "$D" > out.$form; echo "exit $?"; done
sed -n '/^## What was expected/,/^## 1/p' out.markdown
jq -c '.expectations[]' out.json
grep -o '<section[^>]*id="expectations"><h2>[^<]*' out.html
pythia check -q nothing.json "$D" > out; echo "exit $?"; sed -n 3,4p out
