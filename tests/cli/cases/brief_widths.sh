# The short form at 72 and at 120 columns: no word is broken, no line is wider. What is no terminal gets neither colour nor
# control characters; a terminal that is dumb, or of another charset, gets ASCII.
cp $DATASETS/openstack/contention.jsonl.zst .
for columns in 60 72 120 200; do
    COLUMNS=$columns pythia replay -q contention.jsonl.zst > $columns.txt
    echo "$columns: widest $(LC_ALL=C.UTF-8 wc -L < $columns.txt), $(wc -l < $columns.txt) lines"
done
cmp 60.txt 72.txt && cmp 120.txt 200.txt && cat 72.txt 120.txt
TERM=dumb pythia replay -q contention.jsonl.zst | LC_ALL=C grep -c '[^ -~]'
LC_ALL=de_DE.ISO-8859-1 pythia replay -q contention.jsonl.zst | LC_ALL=C grep -c '[^ -~]'
# On a terminal: colour, unless NO_COLOR or TERM=dumb says otherwise.
escapes() { script -qec "stty cols 90; $1 pythia replay -q contention.jsonl.zst" /dev/null < /dev/null | grep -c "$(printf '\033')"; }
echo "colours: $(($(escapes 'env TERM=xterm') > 0)) $(escapes 'env TERM=xterm NO_COLOR=1') $(escapes 'env TERM=dumb')"
# What is said of a lesser type is said to its end, in as many lines as that takes; a cycle of the search has one, of at most
# 80 characters.
for columns in 72 80 120; do
    COLUMNS=$columns pythia replay -q --closed-loop contention.jsonl.zst > search.txt
    echo "$columns: $(sed -n '/^△/,/^$/p' search.txt | tr -s ' \n' '  ' | grep -o 'correlates with [^△]*' | grep -c '…')" \
        "$(sed -n '/^  cycle/,/^$/p' search.txt | LC_ALL=C.UTF-8 awk 'length > 80' | wc -l)" \
        "$(sed -n '/^  cycle/,/^$/p' search.txt | grep -c '^ *[0-9]')"
done
