mkdir empty bad
pythia series empty; echo "exit status $?"
pythia series /no/such/folder; echo "exit status $?"
pythia series; echo "exit status $?"
pythia series -q --label nothing $DATA/series; echo "exit status $?"
pythia series -q --over nothing --label 'queue len' $DATA/series; echo "exit status $?"
pythia series -q --resample 1e-9 $DATA/series; echo "exit status $?"
pythia series -q --of median $DATA/series; echo "exit status $?"
printf 'Timepoint,Measurement,Label,PID\n1,x,a,3\n2,2,a,3\n9000000000,2,a,3\n3,2,a,3\n' >bad/some.csv
for i in $(seq 30); do echo "$i,,broken,1"; done >>bad/some.csv
echo not a series >bad/other.csv
pythia series bad; echo "exit status $?"
