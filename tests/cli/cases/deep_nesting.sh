{ printf '{"resourceSpans":'; head -c 100000 /dev/zero | tr '\0' '['; } > open.json
{ printf '{"resourceSpans":[],"x":'; head -c 100000 /dev/zero | tr '\0' '['; head -c 100000 /dev/zero | tr '\0' ']'; printf '}'; } > closed.json
pythia replay open.json; a=$?
pythia replay closed.json; b=$?
echo $a $b
