# The same bytes, whatever the order of files and the number of threads; a folder is as good as its files.
mkdir before after
awk -f $DATA/compare.awk | split -l 7 - before/part.
awk -v after=1 -f $DATA/compare.awk | split -l 9 - after/part.
pythia compare -q --threads 1 --format json before after > one
pythia compare -q --threads 3 --format json before after | cmp - one && echo same
more() { for path in $(ls $2 $1/part.* | tail -n +2); do echo --$1 $path; done; }
list() { pythia compare -q --format json $4 $(more before $1) $(more after $1) $2 $3 | jq 'del(.before, .after)'; }
list '' before/part.aa after/part.aa '--threads 1' > two
list -r before/part.af after/part.ae '--threads 4' | cmp - two && echo same
jq 'del(.before, .after)' one | cmp - two && echo same
