# What a program offers, in order of name; malformed notes and files that are none are named, and the rest is listed.
set +e
corpus=$ROOT/tests/fuzz/corpus/usdt_notes
cp "$corpus/good" shop
cp "$corpus/escape" escape
pythia probes shop
echo "status $?"
printf '#!/bin/sh\n' > script
pythia probes script escape shop | head -3
echo "status ${PIPESTATUS[0]}"
pythia probes none
echo "status $?"
# A process that has no probes has none; and one that is not there is named.
pythia probes --pid $$ > /dev/null && echo listed
pythia probes --pid 2147483647
echo "status $?"
pythia probes
echo "status $?"
# Functions, by the pattern of their names; a program without symbols has none.
cp "$corpus/functions" functions
pythia probes --functions 'shop_*' functions shop
echo "status $?"
