# A result that others have written: names that would act on a terminal, a table or a picture are shown.
pythia evaluate --strategy all,flat --problem bushy-100 --seeds 1 --cycles 2 --format json |
    jq --arg bad "$(printf '</text><script>alert(1)</script>|\033[31m,"\342\200\256x')" \
        '(.. | strings | select(. == "flat" or . == "bushy-100")) |= $bad | .problems[].help = $bad' >bad.json
for f in text csv markdown; do pythia evaluate --from bad.json --format $f; done | grep script | cut -c1-100
pythia evaluate --from bad.json --format svg >bad.svg && xmllint --noout bad.svg && grep -c '<script' bad.svg
jq 'del(.results[].cycles_to_localise, .results[].opened_share, .level, .cycles, .notes)' bad.json >less.json
pythia evaluate --from less.json; echo $?
jq '.notes = [] | del(.results[].cycles_to_localise, .results[].opened_share, .level, .cycles) | .seeds = "x"' bad.json >less.json
for f in text csv markdown svg json; do pythia evaluate --from less.json --format $f >out || echo $f; done
