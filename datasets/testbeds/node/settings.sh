# What the scripts of this testbed agree on: sourced by up, load and down.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
place=${TESTBED_NODE:-$root/build/testbeds/node}
run=$place/run
logs=$place/logs
services=(ledger quotes shop) # each asks those before it
mkdir -p "$run" "$logs"
. "$here/../processes.sh"
