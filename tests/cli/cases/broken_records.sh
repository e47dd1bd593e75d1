# A line that is not JSON, ids of a wrong length, a time out of range, a number that is none, an unknown escape.
sed -e '3s/.*/this is no JSON/' -e '5s/"traceId":"[0-9a-f]*"/"traceId":"abc"/' \
    -e '7s/"startTimeUnixNano":"[0-9]*"/"startTimeUnixNano":"99999999999999999999999"/' \
    -e '9s/"kind":2/"kind":NaN/' -e '11s/"name":"pay"/"name":"p\\qay"/' $DATA/retry.jsonl > broken.jsonl
pythia replay broken.jsonl | head -1
exit ${PIPESTATUS[0]}
