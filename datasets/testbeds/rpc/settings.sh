# What the scripts of this testbed agree on: sourced by up, load, plant and down.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
place=${TESTBED_RPC:-$root/build/testbeds/rpc}
program=${RPC_PROGRAM:-$root/build/release/bin/rpc_testbed}
shards=${RPC_SHARDS:-4}
run=$place/run
logs=$place/logs
mkdir -p "$run" "$logs"
. "$here/../processes.sh"

address_of() { # NAME: as it told when it began to listen
    local address
    address=$(sed -n 's/^[a-z]* \(127\.0\.0\.1:[0-9]*\)$/\1/p' "$logs/$1.log" | tail -n 1)
    [ -n "$address" ] && pid_of "$1" >/dev/null && echo "$address"
}

names() { # of the processes, each behind those that it asks
    local i
    for ((i = 0; i < shards; i++)); do echo "shard-$i"; done
    echo store
    echo front
}
