sed 's/"amex"/"am\xff\xfeex"/' $DATA/retry.jsonl > latin.jsonl
pythia replay --format json latin.jsonl > report.json
jq -r '.input.repaired.encoding, (.groups[0].count)' report.json
grep -c "$(printf 'am\xef\xbf\xbd\xef\xbf\xbdex')" report.json > /dev/null && echo found
