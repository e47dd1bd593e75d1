# Nothing is written where it cannot be written wholly.
R=$DATA/retry.jsonl
try() { pythia shuffle -q "$@" 2>&1 | sed "s,$DATA/,,g"; echo "${PIPESTATUS[0]}: $(ls)"; }
mkdir full; touch full/file; touch plain
try out $R
try --parts 0 out $R
try --parts 513 out $R
try --parts 2 out
try --parts 2 full $R
try --parts 2 plain $R
try --parts 2 nowhere/out $R
try --parts 2 out nowhere
try --parts 2 --skew out $R
echo '{"resourceSpans":[]}' > none.jsonl
try --parts 2 out none.jsonl; rm -r out
sed '1s/./[/' $R > broken.jsonl
try --parts 2 out broken.jsonl; rm -r out
mkdir empty
try --parts 2 empty/ $R; ls empty
(trap '' XFSZ; ulimit -f 1; try --parts 1 out $DATASETS/openstack/contention.jsonl.zst) 2>&1 | sed 's/[0-9]*\.tmp/PID.tmp/'
