# What a search sees and decides, on standard error; the result is the same.
one='--strategy all --problem numeric --seeds 1 --cycles 2 --threads 1'
pythia evaluate $one --verbose 2>story >with && pythia evaluate $one | cmp - with
sed 's/[0-9][0-9.]* % of the variance\( ([^)]*)\)\?/N % of the variance/' story | grep -v '^    [oc]'
grep -c '^    opens' story
