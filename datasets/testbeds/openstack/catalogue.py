#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What is in the cloud: users and endpoints of the services (catalogue.py services), and flavours and images for the load
(catalogue.py resources). What is there already is left alone. Ports and passwords come from settings.sh."""
import os
import sys
import time

from keystoneauth1 import exceptions, session
from keystoneauth1.identity import v3

PASSWORD = os.environ['TESTBED_PASSWORD']
SERVICES = (('image', 'glance', ''), ('placement', 'placement', ''), ('network', 'neutron', ''),
            ('compute', 'nova', '/v2.1'), ('volumev3', 'cinder', '/v3/%(project_id)s'))
FLAVOURS = {1: ('tiny', 64, 1), 2: ('small', 128, 1), 3: ('large', 512, 2)}  # by id
IMAGES = ('red', 'green', 'blue')


def url(name, path=''):
    return f'http://127.0.0.1:{os.environ[name.upper() + "_PORT"]}{path}'


def login():
    return session.Session(auth=v3.Password(auth_url=url('keystone', '/v3'), username='admin', password=PASSWORD,
                                            project_name='admin', user_domain_id='default',
                                            project_domain_id='default'), timeout=60)


def at(kind):
    return {'service_type': kind, 'interface': 'public', 'region_name': 'RegionOne'}


def services(cloud):
    identity = url('keystone', '/v3')

    def known(kind, field='name'):
        return {one[field]: one['id'] for one in cloud.get(f'{identity}/{kind}s').json()[f'{kind}s']}

    def made(kind, have, name, **more):
        if name not in have:
            have[name] = cloud.post(f'{identity}/{kind}s', json={kind: {'name': name, **more}}).json()[kind]['id']
        return have[name]
    roles, users = known('role'), known('user')
    service_role = made('role', roles, 'service')
    project = made('project', known('project'), 'service', domain_id='default')
    there, kinds = cloud.get(f'{identity}/endpoints').json()['endpoints'], known('service', 'type')
    endpoints = {(one['service_id'], one['interface']) for one in there}
    for kind, name, path in SERVICES:
        user = made('user', users, name, password=PASSWORD, domain_id='default')
        for role in (roles['admin'], service_role):
            cloud.put(f'{identity}/projects/{project}/users/{user}/roles/{role}')
        if kind not in kinds:
            body = {'service': {'name': name, 'type': kind}}
            kinds[kind] = cloud.post(f'{identity}/services', json=body).json()['service']['id']
        for interface in ('public', 'internal', 'admin'):
            if (kinds[kind], interface) not in endpoints:
                cloud.post(f'{identity}/endpoints', json={'endpoint': {
                    'service_id': kinds[kind], 'interface': interface, 'region_id': 'RegionOne',
                    'url': url(name, path)}})


def resources(cloud):
    have = {one['name'] for one in cloud.get('/flavors', endpoint_filter=at('compute')).json()['flavors']}
    for number, (name, ram, cpus) in FLAVOURS.items():
        if name not in have:
            cloud.post('/flavors', endpoint_filter=at('compute'), json={
                'flavor': {'name': name, 'id': str(number), 'ram': ram, 'vcpus': cpus, 'disk': 1}})
    have = {one['name'] for one in cloud.get('/v2/images', endpoint_filter=at('image')).json()['images']}
    for name in IMAGES:
        if name not in have:
            image = cloud.post('/v2/images', endpoint_filter=at('image'), json={
                'name': name, 'disk_format': 'raw', 'container_format': 'bare', 'visibility': 'public'}).json()
            cloud.put(f'/v2/images/{image["id"]}/file', endpoint_filter=at('image'), data=bytes(65536),
                      headers={'Content-Type': 'application/octet-stream'})
    # The first request for ports fails in a neutron of this release that has no agents: its tables are joined by then.
    cloud.get('/v2.0/networks', endpoint_filter=at('network'))
    cloud.get('/v2.0/ports', endpoint_filter=at('network'))


def hosts(cloud):
    """Until nova-compute has told that it is there."""
    def up():
        there = cloud.get('/os-services', endpoint_filter=at('compute')).json()['services']
        return any(one['binary'] == 'nova-compute' and one['state'] == 'up' for one in there)
    for _ in range(120):
        if up():
            return
        time.sleep(.5)
    sys.exit('nova-compute did not come up')


def main():
    work = {'services': services, 'resources': resources, 'hosts': hosts}.get(' '.join(sys.argv[1:]))
    if work is None:
        sys.exit(__doc__)
    cloud = login()
    for attempt in range(20):  # what listens may still be starting
        try:
            return work(cloud)
        except exceptions.ClientException as why:
            last = why
            time.sleep(.5 + attempt / 4)
    sys.exit(f'catalogue.py {sys.argv[1]}: {last}')


if __name__ == '__main__':
    main()
