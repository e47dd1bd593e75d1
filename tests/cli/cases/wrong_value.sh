pythia replay --format yaml x.json; a=$?
pythia replay --min-requests 1 x.json; b=$?
pythia replay --threads many x.json; c=$?
pythia replay --output; d=$?
pythia replay; e=$?
pythia space show; f=$?
pythia tree --trace xyz x.json; g=$?
echo $a $b $c $d $e $f $g
