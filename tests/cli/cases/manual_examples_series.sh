# What pythia-series(1) shows, as it stands there, on a folder with the series that it speaks of.
mkdir shop
awk 'BEGIN {
  print "Timepoint,Measurement,Label,PID"
  for (i = 0; i < 400; i++) {
    at = 1700000000000 + i * 100
    printf "%.0f000000,%g,/v2/notify [POST],4711\n", at, 0.01 + (i % 7) / 1000
    printf "%.0f000000,%g,/v2/notify [POST],4712\n", at + 1, 0.02
    printf "%.0f000000,%g,checkout,4711\n", at + 2, 0.05
    printf "%.0f000000,%g,user time,4711\n", at + 3, i / 100
  } }' > shop/duration.4711.1.0123456789abcdef.csv
pythia help series | sed -n '/^Examples/,$p' | grep '^  pythia ' | sed "s,/var/tmp/shop,$PWD/shop," > examples
test "$(wc -l < examples)" -eq 4
while IFS= read -r line; do
    echo "\$ ${line#  }" | sed "s,$PWD/,,"
    bash -ec "$line" 2>/dev/null | head -12
done < examples
head -c 100 shop.svg | head -1; tail -c 7 shop.svg
