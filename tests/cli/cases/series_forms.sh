pythia series -q -f html -o page.html $DATA/series && tail -n +2 page.html | xmllint --noout - && echo "the page is well-formed"
pythia series -q -f svg -o picture.svg --resample 1 $DATA/series && xmllint --noout picture.svg && echo "the picture is well-formed"
grep -o '<path' picture.svg | wc -l
# A picture has paper of its own, for whoever looks in the dark; the page fits a telephone, and loads nothing.
grep -o '<rect class="paper"[^>]*>' picture.svg; grep -c 'class="paper"' page.html
grep -o '"width=device-width[^"]*"\|default-src &#39;none&#39;\|<table class="stack">\|data-l="p99"' page.html | sort | uniq -c
pythia series -q -f json --resample 5 $DATA/series | jq '.series |= length | .resampled.series |= map(.values)'
echo "--- hostile names"
printf 'Timepoint,Measurement,Label,PID\n1,2,<script>alert(1)</script>,3\n1,2,\033[31mred,3\n1,2,"a | `b`",3\n' >hostile.csv
pythia series -q hostile.csv
pythia series -q -f markdown hostile.csv
pythia series -q -f html hostile.csv | grep -c '<script'
