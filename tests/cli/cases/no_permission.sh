# Root may read everything: then there is nothing to see.
[ "$(id -u)" -ne 0 ] || command -v setpriv > /dev/null || exit 77
mkdir locked
cp $DATA/retry.jsonl locked/a.jsonl
cp $DATA/retry.jsonl open.jsonl
chmod 000 locked
chmod 755 . ..
run() { if [ "$(id -u)" -eq 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
run pythia replay -q locked open.jsonl > /dev/null
