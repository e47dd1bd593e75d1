# What the scripts of this testbed agree on: sourced by up, load, limit and down.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
place=${TESTBED_OPENSTACK:-$root/build/testbeds/openstack}
run=$place/run
logs=$place/logs
etc=$place/etc
state=$place/state
programs=$place/packages/usr/bin # of the packages that are unpacked, not installed
python=/usr/bin/python3          # Debian's, for which its packages are
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C.UTF-8
unset PYTHONPATH PYTHONHOME

# Ports of the loopback, beginning with TESTBED_PORTS.
names=(MYSQL REDIS RABBIT RABBIT_PEERS EPMD MEMCACHED KEYSTONE GLANCE PLACEMENT NEUTRON NOVA CINDER)
for number in "${!names[@]}"; do
    export "${names[number]}_PORT=$((${TESTBED_PORTS:-17300} + number))"
done
export TESTBED_PLACE=$place TESTBED_PASSWORD=pythia TESTBED_HMAC_KEY=pythia-hmac
traces=redis://127.0.0.1:$REDIS_PORT/0

services=(keystone placement glance neutron nova-conductor nova-scheduler nova-api nova-compute
    cinder-scheduler cinder-volume cinder-api)
mkdir -p "$run" "$logs" "$etc" "$state"
. "$here/../processes.sh"
