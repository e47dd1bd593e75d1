sed 's/"pay"/"pay\\u001b[31m<script>|`\\n"/; s/"charge"/"charge\\u202e"/' $DATA/retry.jsonl > hostile.jsonl
pythia replay -q hostile.jsonl | grep -c "$(printf '\033')"
pythia replay -q --format html hostile.jsonl | grep -ci '<script>'
pythia tree -q hostile.jsonl | grep -c "$(printf '\033')"
pythia profile -q hostile.jsonl | grep -c "$(printf '\033')"
pythia export -q --to folded hostile.jsonl | grep -c "$(printf '\033')"
exit 0
