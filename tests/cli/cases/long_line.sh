# One line of 1 GB: a string without an end, and as much of an attribute.
{ printf '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"'; head -c 1073741824 /dev/zero | tr '\0' 'a'; } > line.json
pythia replay -q line.json > /dev/null; a=$?
rm line.json
{ printf '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"'; head -c 209715200 /dev/zero | tr '\0' 'a'; printf '"}]}]}]}\n'; cat $DATA/retry.jsonl; } > line.json
pythia replay -q line.json | head -1; b=${PIPESTATUS[0]}
echo $a $b
