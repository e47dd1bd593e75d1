# What is wrong is told before anything is asked of a daemon; and one that is not there is named with its address.
try() { pythia ctl "$@"; echo "$*: $?"; }
try
try stats
try open
try status shop:db
try status --open shop:db
try plan
try --format html status
try --format markdown decisions
try --address
try --count 0 decisions
try --address unix:none.sock status
try --address unix:none.sock --token none status
try --address unix:none.sock off
# Agents that poll it can be closed without it all the same, and everything that can be closed is, whatever else fails.
try --address unix:none.sock --off-file off off
ls
try --address unix:none.sock --off-file off on
ls
try --address unix:none.sock --osprofiler unix:none.redis --off-file off off
ls
try --address unix:none.sock --off-file nowhere/off off
