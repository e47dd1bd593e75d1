# 300 MB of blanks in some 10 kB. The limit is for those who try to harm: 256 MB of content are read before.
{ printf '{"resourceSpans":['; head -c 314572800 /dev/zero | tr '\0' ' '; echo ']}'; } | zstd -q -c > bomb.json.zst
pythia replay -q bomb.json.zst 2>&1 >/dev/null | sed 's/[0-9]* bytes expand/N bytes expand/'
exit ${PIPESTATUS[0]}
