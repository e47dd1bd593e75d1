# Links that lead out of a folder are followed only if that is wished: whoever may write to the folder could have us read
# what is not theirs. Links within the folder are followed, those that were named as well, and those to folders never.
mkdir -p folder/deep elsewhere
head -2 $DATA/retry.jsonl > folder/mine.jsonl
cp $DATA/retry.jsonl elsewhere/theirs.jsonl
cp $DATA/retry.jsonl folder-beside.jsonl
ln -s ../mine.jsonl folder/deep/inside.jsonl
ln -s ../../elsewhere/theirs.jsonl folder/deep/relative.jsonl
ln -s $PWD/elsewhere/theirs.jsonl folder/absolute.jsonl
ln -s ../folder-beside.jsonl folder/prefix.jsonl
ln -s ../elsewhere folder/elsewhere
ln -s nowhere folder/dangling.jsonl
ln -s folder named
ln -s elsewhere/theirs.jsonl named.jsonl
read_it() {
    echo "pythia replay $*"
    pythia replay "$@" 2>&1 >/dev/null | grep -E "^pythia: (info: )?Read|symbolic" | sed "s|$PWD|.|"
}
read_it folder
read_it --follow-symlinks folder
read_it named
read_it named.jsonl
mkdir series
printf 'Timepoint,Measurement,Label,PID\n1000000000,1,a,1\n' > elsewhere/out.csv
printf 'Timepoint,Measurement,Label,PID\n1000000000,2,b,1\n' > series/in.csv
ln -s ../elsewhere/out.csv series/link.csv
pythia series series 2>&1 >/dev/null
pythia series --follow-symlinks series 2>&1 >/dev/null
