# Ctrl-C: what was done goes to standard output, marked as a part; a file is left as it was.
long='--strategy random --problem bushy,null --seeds 100000 --threads 2 --format json'
timeout --preserve-status -s INT 3 pythia evaluate $long >part.json 2>err; echo $?
sed 's/[0-9][0-9]*/N/g' err
jq -c '[.complete, .trials > 0, .trials < 200000, .notes[0][:14], ([.results[].trials] | add) == .trials]' part.json
pythia evaluate --from part.json | grep -c '^The evaluation was interrupted after '
echo old >kept.json
timeout --preserve-status -s TERM 3 pythia evaluate $long --output kept.json 2>err; echo $?
sed 's/[0-9][0-9]*/N/g' err
cat kept.json
ls
