#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Requests for servers, images and volumes, each with OSProfiler's signed headers, so that it is traced.

usage: load.py [--rate PER_SECOND] [--seconds S] [--seed N] [--log FILE] [--only KIND] [--unprofiled]

Each request does what a user's command does: get a token, look things up, and act. They come at random times, servers to
create in bursts of one to five, whether earlier ones are answered or not; the same seed asks for the same things. The log
has a line for each: kind, base_id of its trace, when it was sent, seconds, and what went wrong. Ends with 1 if anything
did. Ports and passwords come from settings.sh."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import signal
import sys
import threading
import time
import uuid

from keystoneauth1 import exceptions
from osprofiler import profiler

from catalogue import FLAVOURS, IMAGES, at, login

# of a hundred requests
MIX = {'server_create': 50, 'server_delete': 30, 'server_list': 3, 'server_show': 3, 'flavour_list': 2, 'image_list': 2,
       'image_show': 2, 'volume_create': 2, 'volume_list': 2, 'volume_delete': 2}
BURST = 5
SERVERS_KEPT, VOLUMES_KEPT = 2, 2
BUILDING_MAX = 8  # servers: where the machine is too slow for the rate, the queue does not grow without end
VERSION = {'OpenStack-API-Version': 'compute 2.37'}


class Load:
    def __init__(self, log):
        self.lock, self.log = threading.Lock(), log
        self.servers, self.volumes, self.stopped = [], [], threading.Event()
        self.counts = collections.Counter()
        self.images, self.building = {}, 0

    # ---- kinds ----

    def server_create(self, cloud, draw):
        with self.lock:
            room = self.building < BUILDING_MAX
            self.building += room
        if not room:
            return self.server_list(cloud, draw)
        images = cloud.get('/v2/images', params={'name': draw.choice(IMAGES)}, endpoint_filter=at('image'))
        flavour = cloud.get(f'/flavors/{draw.choice(list(FLAVOURS))}', endpoint_filter=at('compute'))
        cloud.post('/servers', headers=VERSION, endpoint_filter=at('compute'), json={'server': {
            'name': f'load-{uuid.uuid4().hex[:8]}', 'imageRef': images.json()['images'][0]['id'],
            'flavorRef': flavour.json()['flavor']['id'], 'networks': 'none'}})
        return None

    def server_delete(self, cloud, draw):
        server = self.take(self.servers, SERVERS_KEPT)
        if server is None:
            return self.server_list(cloud, draw)
        cloud.get(f'/servers/{server}', endpoint_filter=at('compute'))
        cloud.delete(f'/servers/{server}', endpoint_filter=at('compute'))
        return None

    def server_list(self, cloud, _):
        cloud.get('/servers/detail', endpoint_filter=at('compute'))

    def server_show(self, cloud, draw):
        with self.lock:
            server = draw.choice(self.servers) if self.servers else None
        try:
            cloud.get(f'/servers/{server}' if server else '/servers/detail', endpoint_filter=at('compute'))
        except exceptions.NotFound:
            pass  # deleted meanwhile

    def flavour_list(self, cloud, _):
        cloud.get('/flavors/detail', endpoint_filter=at('compute'))

    def image_list(self, cloud, _):
        cloud.get('/v2/images', endpoint_filter=at('image'))

    def image_show(self, cloud, draw):
        cloud.get(f'/v2/images/{self.images[draw.choice(IMAGES)]}', endpoint_filter=at('image'))

    def volume_create(self, cloud, _):
        answer = cloud.post('/volumes', endpoint_filter=at('volumev3'),
                            json={'volume': {'size': 1, 'name': f'load-{uuid.uuid4().hex[:8]}'}})
        with self.lock:
            self.volumes.append(answer.json()['volume']['id'])

    def volume_list(self, cloud, _):
        cloud.get('/volumes/detail', endpoint_filter=at('volumev3'))

    def volume_delete(self, cloud, draw):
        volume = self.take(self.volumes, VOLUMES_KEPT)
        if volume is None:
            return self.volume_list(cloud, draw)
        cloud.delete(f'/volumes/{volume}', endpoint_filter=at('volumev3'))
        return None

    # ---- around them ----

    def take(self, known, kept):
        """The oldest of what there is, if enough is left."""
        with self.lock:
            return known.pop(0) if len(known) > kept else None

    def run(self, kind, seed, profiled):
        draw, base = random.Random(seed), str(uuid.uuid4())
        entry = {'kind': kind, 'base_id': base if profiled else None, 'sent': time.time()}
        profiler.clean()
        if profiled:
            profiler.init(os.environ['TESTBED_HMAC_KEY'], base_id=base)
        try:
            getattr(self, kind)(login(), draw)
        except Exception as why:  # whatever it is, the load goes on, and tells it
            entry['error'] = f'{type(why).__name__}: {why}'
        finally:
            profiler.clean()
        entry['seconds'] = time.time() - entry['sent']
        with self.lock:
            self.counts[kind] += 1
            self.counts['failed'] += 'error' in entry
            if 'error' in entry and self.counts['failed'] <= 5:
                print(f'{kind}: {entry["error"]}', file=sys.stderr)
            if self.log:
                self.log.write(json.dumps(entry) + '\n')
                self.log.flush()

    def watch(self):
        """Note servers as they become active, without being traced; those that failed are told."""
        cloud, known, failed = login(), set(), set()
        while not self.stopped.wait(1):
            try:
                for server in cloud.get('/servers/detail', endpoint_filter=at('compute')).json()['servers']:
                    if server['status'] == 'ACTIVE' and server['id'] not in known:
                        known.add(server['id'])
                        with self.lock:
                            self.servers.append(server['id'])
                            self.building -= 1
                    elif server['status'] == 'ERROR' and server['id'] not in failed:
                        failed.add(server['id'])
                        with self.lock:
                            self.counts['failed'] += 1
                        print(f'server {server["id"]}: {server.get("fault", {}).get("message")}', file=sys.stderr)
            except exceptions.ClientException as why:
                print(f'watch: {why}', file=sys.stderr)


def schedule(draw, rate, seconds, only):
    """(time, kind, seed) of each request. A burst counts as so many requests, so that the mix is of requests."""
    kinds, weights = list(MIX), list(MIX.values())
    mean = (1 + BURST) / 2
    weights = [weight / mean if kind == 'server_create' else weight for kind, weight in zip(kinds, weights)]
    per_arrival = sum(MIX.values()) / sum(weights)
    at_s = 0.0
    while True:
        at_s += draw.expovariate(rate / per_arrival)
        if at_s > seconds:
            return
        kind = only or draw.choices(kinds, weights)[0]
        for _ in range(draw.randint(1, BURST) if kind == 'server_create' else 1):
            yield at_s, kind, draw.getrandbits(32)


def clean():
    """Delete what an earlier load left, and wait until it is gone."""
    cloud = login()
    told = set()
    for _ in range(120):
        servers = {one['id'] for one in cloud.get('/servers', endpoint_filter=at('compute')).json()['servers']}
        for server in servers - told:
            cloud.delete(f'/servers/{server}', endpoint_filter=at('compute'), raise_exc=False)
        told |= servers
        if not servers:
            break
        time.sleep(1)
    for volume in cloud.get('/volumes', endpoint_filter=at('volumev3')).json()['volumes']:
        cloud.delete(f'/volumes/{volume["id"]}', endpoint_filter=at('volumev3'), raise_exc=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rate', type=float, default=1)
    parser.add_argument('--seconds', type=float, default=120)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--log')
    parser.add_argument('--only', choices=sorted(MIX))
    parser.add_argument('--unprofiled', action='store_true')
    a = parser.parse_args()
    clean()
    log = open(a.log, 'a', encoding='utf-8') if a.log else None
    load = Load(log)
    for image in login().get('/v2/images', endpoint_filter=at('image')).json()['images']:
        load.images[image['name']] = image['id']
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: load.stopped.set())
    watching = threading.Thread(target=load.watch)
    watching.start()
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        for due, kind, seed in schedule(random.Random(a.seed), a.rate, a.seconds, a.only):
            if load.stopped.wait(max(0, begin + due - time.monotonic())):
                break
            pool.submit(load.run, kind, seed, not a.unprofiled)
    load.stopped.set()
    watching.join()
    failed = load.counts.pop('failed')
    print(f'{sum(load.counts.values())} requests, {failed} failed: '
          + ', '.join(f'{kind} {count}' for kind, count in sorted(load.counts.items())))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
