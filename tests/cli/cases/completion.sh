pythia help --bash-completion > completion.bash
. ./completion.bash
try() { COMP_WORDS=(pythia "$@"); COMP_CWORD=$#; _pythia; echo "${COMPREPLY[@]}"; }
try ''
try re
try replay --form
try replay --format ''
try space ''
try space build --out
try export --to ''
try help ''
try help re
try help space ''
try space build -
try replay -f m
try ctl st
try ctl --format j
try ctl --address 127.0.0.1:1 un
touch traces.json; try replay tr
# Each word of ctl is one that it knows.
COMP_WORDS=(pythia ctl ''); COMP_CWORD=2; _pythia
for word in "${COMPREPLY[@]}"; do pythia ctl --address unix:none "$word" shop:x 2>&1; pythia ctl --address unix:none "$word" 2>&1; done |
    grep -c 'there is no pythia ctl'
echo "${#COMPREPLY[@]}"
# The same of pythiad.
pythiad --bash-completion > pythiad.bash
. ./pythiad.bash
try() { COMP_WORDS=(pythiad "$@"); COMP_CWORD=$#; _pythiad; echo "${COMPREPLY[@]}"; }
try --otlp
try --learn ''
try --config tr
try -q --ver
