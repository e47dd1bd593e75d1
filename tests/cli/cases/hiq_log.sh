# The log that HiQ's documentation shows: func2 takes 2.5 of 4 s.
cp $ROOT/tests/corpus/hiq/valid/as-its-documentation-shows/input hiq.log
pythia tree --slowest 2 hiq.log
