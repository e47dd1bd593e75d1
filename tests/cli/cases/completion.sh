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
