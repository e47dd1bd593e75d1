# What is no file, or not what it should be: place, cause and status, of every command and of what options name.
: > empty
printf '\001\200garbage' > garbage
mkdir folder
cp $DATA/retry.jsonl . # lines have room for paths, so that a longer one would be cut elsewhere
R=retry.jsonl
try() { pythia "$@" 2>&1 > out | grep -v '^pythia: \(Read\|Hidden\) '; echo "$(echo "$*" | sed "s,$DATA/,,g"): ${PIPESTATUS[0]}, $(wc -c < out) bytes"; }
for file in nowhere empty garbage folder; do
    try space show $file
    try tree -q $file
    try series -q $file
    try compare -q $R $file
    try evaluate --from $file
    try generate -r 1 --open $file
    try run --points $file -- true
    try replay -q --open $file $R
    try replay -q --space $file $R
    try replay -q --series $file $R
    try replay -q --closed-loop --history $file $R
    [ ! -s nowhere ] || { jq -c .schema nowhere; rm nowhere; }
    try replay -q --closed-loop --never @$file $R
done
try replay -q --closed-loop --never @ $R
TMPDIR=$PWD/nowhere try export -q $R
