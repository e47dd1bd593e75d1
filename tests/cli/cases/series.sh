mkdir csv
cp $DATA/series/*.csv csv
pythia series csv
echo "--- one label, in intervals"
pythia series -q --label 'queue len' --resample 2 csv
echo "--- of one process, counted"
pythia series -q --label '/v2/notify, [POST]' --pid 17 --resample 1 --of count csv
echo "--- each process"
pythia series -q --each --label '/v2/notify, [POST]' csv
echo "--- a ratio"
pythia series -q --label 'queue len' --over '/v2/notify, [POST]' --resample 5 --of max csv
echo "--- Markdown"
pythia series -q -f markdown --resample 5 csv
