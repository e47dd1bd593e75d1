pythia space show nowhere.space; a=$?
echo '{"schema":"pythia.space/1"' > cut.space; pythia space show cut.space; b=$?
echo '{"schema":"pythia.space/9"}' > new.space; pythia space show new.space; c=$?
echo '{"schema":"pythia.space/1","trace_points":[["a","b","c"]],"types":[{"name":"t","requests":1,"nodes":[[5,0,1,1,1,1,0]],"edges":[]}]}' > bad.space
pythia replay -q --space bad.space $DATA/retry.jsonl; d=$?
echo $a $b $c $d
