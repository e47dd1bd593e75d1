# A file of expectations that cannot be read, or says too little, is wrong usage, with the place and what to write.
D=$DATA/retry.jsonl
try() { [ "$1" != -- ] || shift; printf -- "$1" > x.yaml; pythia check -q x.yaml "$D" > out; echo "exit $?"; test ! -s out || echo "wrote a report"; }
try ''
try '[]\n'
try 'type: a\n'
try -- '- 1\n'
try -- '- type: a\n'
try -- '- p99: < 1s\n'
try -- '- type: a\n  p99: 250ms\n'
try -- '- type: a\n  cov: < 0.3\n- type: b\n  cov: < 0.3\n  where: queue\n'
try -- '- type: a\n  cov: < 0.3\n  cov: < 0.2\n'
try -- '- type: a\n  p95: < 1s\n'
try -- '- &x {type: a, cov: < 1}\n- *x\n'
pythia check -q missing.yaml "$D"; echo "exit $?"
pythia check x.yaml; echo "exit $?"
printf '%s\n' '- type: "*"' '  cov: < 9' > x.yaml
pythia check -q x.yaml missing.jsonl; echo "exit $?"
