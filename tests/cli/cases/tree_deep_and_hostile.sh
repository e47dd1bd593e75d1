# A tree of 3000 levels, and names that would act on a terminal.
awk 'BEGIN { printf "time,v2,0,{\"None\":10,20,"; for (i = 0; i < 3000; i++) printf "{\"n\":10,20,"; for (i = 0; i < 3000; i++) printf "}"; print "}" }' >deep.log
pythia tree -q --format shares deep.log | sed -n '1,3p;43,45p;3002,$p'
pythia tree -q -f json deep.log | jq -c '.[0].spans[-1] | [.depth, .parent]'
printf 'time,v2,0,{"\033[31mred":1,2,{"<b>&":1,2,}}\n' >hostile.log
pythia tree -q --format shares hostile.log
pythia tree -q --format json hostile.log | jq -r '.[0].spans[0].trace_point' | od -An -c | head -1
