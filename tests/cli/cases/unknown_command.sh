pythia rplay x; a=$?
pythia space; b=$?
pythia space shw x; c=$?
pythia help space; d=$?
pythia help > help.txt; e=$?
echo $a $b $c $d $e
