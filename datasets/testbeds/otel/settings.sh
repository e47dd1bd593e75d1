# What the scripts of this testbed agree on: sourced by up and down, which have set $program.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
place=${TESTBED_OTEL:-$root/build/testbeds/otel}
run=$place/$program/run
logs=$place/$program/logs
port=${SHOP_PORT:-7010} # of front; those after it are of cart, pricing and the collector
mkdir -p "$run" "$logs"
. "$here/../processes.sh"
