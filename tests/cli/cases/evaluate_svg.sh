# Well-formed, a panel for each problem in which something is planted, a mark for each strategy, and in the legend.
pythia evaluate --strategy all,random,flat --problem deep-100,null,bushy-100,shift --seeds 1 --cycles 2 --format svg > plot.svg
xmllint --noout plot.svg || exit 1
count() { xmllint --xpath "count($1)" plot.svg; echo; }
svg='*[local-name()="svg"]' g='*[local-name()="g"]' text='*[local-name()="text"]' path='*[local-name()="path"]'
xmllint --xpath "//$text[@class='t']/text()" plot.svg; echo
count "/$svg/$path"
count "/$svg/$g/$g/$path"
grep -c 'prefers-color-scheme:dark' plot.svg
pythia evaluate --strategy all --problem null --seeds 1 --cycles 1 --format svg --output none.svg && xmllint --noout none.svg
grep -o 'Nothing was planted[^<]*' none.svg
