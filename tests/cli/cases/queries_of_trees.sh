# Two trees: b is called below a for 1 and 2 s, and below c for 4 s; d, below b, for 0.5 s in the first and 0.25 s in the second.
cat >trees.log <<'END'
time,v2,0,{"None":10,20,{"a":10,14,{"b":10,11,{"d":10,10.5,}}{"b":11,13,}}{"c":14,20,{"b":14,18,}}}
time,v2,0,{"None":30,40,{"a":30,40,{"d":30,30.25,}}}
END
for by in name leaf level; do
    echo "--- by $by"
    pythia profile -q --by $by trees.log
done
echo "--- the first two"
pythia profile -q --by name --top 2 trees.log
