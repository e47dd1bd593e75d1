#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write the settings of all services below $TESTBED_PLACE/etc, as OpenStack's installation guide has them, but with every
address on the loopback and OSProfiler switched on. usage: configure.py; ports and passwords come from settings.sh."""
import os
import shutil

PLACE, PASSWORD, HOST = os.environ['TESTBED_PLACE'], os.environ['TESTBED_PASSWORD'], '127.0.0.1'
ETC, STATE, LOGS, PACKAGES = (os.path.join(PLACE, name) for name in ('etc', 'state', 'logs', 'packages'))


def port(name):
    return os.environ[name + '_PORT']


IDENTITY = f'http://{HOST}:{port("KEYSTONE")}/v3'
IMAGES = f'http://{HOST}:{port("GLANCE")}'
CACHE = f'{HOST}:{port("MEMCACHED")}'
PROFILER = {'enabled': 'true', 'trace_sqlalchemy': 'true', 'hmac_keys': os.environ['TESTBED_HMAC_KEY'],
            'connection_string': f'redis://{HOST}:{port("REDIS")}/0'}


def database(name):
    return {'connection': f'mysql+pymysql://testbed:{PASSWORD}@{HOST}:{port("MYSQL")}/{name}?charset=utf8',
            'max_pool_size': 20, 'max_overflow': 40}


def login(user):
    return {'auth_type': 'password', 'auth_url': IDENTITY, 'username': user, 'password': PASSWORD,
            'project_name': 'service', 'user_domain_id': 'default', 'project_domain_id': 'default',
            'region_name': 'RegionOne'}


def checked_login(user):
    return {**login(user), 'www_authenticate_uri': IDENTITY, 'memcached_servers': CACHE}


def listens(prefix, name, workers):
    return {f'{prefix}_listen': HOST, f'{prefix}_listen_port': port(name), f'{prefix}_workers': workers}


def folder(*names):
    path = os.path.join(STATE, *names)
    os.makedirs(path, exist_ok=True)
    return path


def paste(service, name):
    source = os.path.join(PACKAGES, 'usr', 'share', f'{service}-common', name)
    return shutil.copy(source, os.path.join(ETC, f'{service}-{name}'))


def keystone():
    return {'DEFAULT': {'log_file': f'{LOGS}/keystone.log'},
            'identity': {'password_hash_rounds': 4},  # each request of the load asks for a token
            'token': {'provider': 'fernet'},
            'fernet_tokens': {'key_repository': folder('keystone', 'fernet')},
            'credential': {'key_repository': folder('keystone', 'credentials')},
            'cache': {'enabled': 'true', 'backend': 'dogpile.cache.memcached', 'memcache_servers': CACHE},
            'database': database('keystone')}


def placement():
    return {'DEFAULT': {'log_file': f'{LOGS}/placement.log'}, 'placement_database': database('placement'),
            'api': {'auth_strategy': 'keystone'}, 'keystone_authtoken': checked_login('placement')}


def glance():
    return {'DEFAULT': {'log_file': f'{LOGS}/glance.log', 'bind_host': HOST, 'bind_port': port('GLANCE'), 'workers': 1},
            'glance_store': {'stores': 'file', 'default_store': 'file',
                             'filesystem_store_datadir': folder('glance', 'images')},
            'paste_deploy': {'flavor': 'keystone', 'config_file': paste('glance', 'glance-api-paste.ini')},
            'database': database('glance'), 'keystone_authtoken': checked_login('glance')}


def neutron(broker):
    return {'DEFAULT': {'log_file': f'{LOGS}/neutron.log', 'bind_host': HOST, 'bind_port': port('NEUTRON'),
                        'transport_url': broker, 'core_plugin': 'ml2', 'service_plugins': '', 'api_workers': 1,
                        'rpc_workers': 1, 'rpc_state_report_workers': 0, 'state_path': folder('neutron'),
                        'api_paste_config': paste('neutron', 'api-paste.ini'),
                        'notify_nova_on_port_status_changes': 'false', 'notify_nova_on_port_data_changes': 'false'},
            'ml2': {'type_drivers': 'local', 'tenant_network_types': 'local', 'mechanism_drivers': '',
                    'extension_drivers': ''},
            'oslo_concurrency': {'lock_path': folder('neutron', 'lock')},
            'database': database('neutron'), 'keystone_authtoken': checked_login('neutron'), 'nova': login('nova'),
            'placement': login('placement')}


def nova(broker):
    return {'DEFAULT': {'my_ip': HOST, 'host': 'testbed', 'transport_url': broker, 'state_path': folder('nova'),
                        'instances_path': folder('nova', 'instances'), 'enabled_apis': 'osapi_compute',
                        **listens('osapi_compute', 'NOVA', 1), 'compute_driver': 'fake.FakeDriver',
                        # There are no agents of neutron: instances have no ports, and nothing waits for one.
                        'vif_plugging_timeout': 0, 'vif_plugging_is_fatal': 'false',
                        # Nothing that runs by the clock disturbs.
                        'heal_instance_info_cache_interval': -1, 'sync_power_state_interval': -1,
                        'running_deleted_instance_poll_interval': 0, 'instance_usage_audit': 'false'},
            'wsgi': {'api_paste_config': paste('nova', 'api-paste.ini')},
            'api_database': database('nova_api'), 'database': database('nova'),
            'conductor': {'workers': 1}, 'scheduler': {'workers': 1},
            'quota': {'instances': -1, 'cores': -1, 'ram': -1},
            'oslo_concurrency': {'lock_path': folder('nova', 'lock')},
            'glance': {'api_servers': IMAGES}, 'cinder': {'os_region_name': 'RegionOne'}, 'vnc': {'enabled': 'false'},
            'keystone_authtoken': checked_login('nova'), 'placement': login('placement'), 'neutron': login('neutron'),
            'service_user': login('nova')}


def cinder(broker):
    return {'DEFAULT': {'my_ip': HOST, 'host': 'testbed', **listens('osapi_volume', 'CINDER', 1),
                        'transport_url': broker, 'state_path': folder('cinder'), 'auth_strategy': 'keystone',
                        'api_paste_config': paste('cinder', 'api-paste.ini'),
                        'resource_query_filters_file': f'{PACKAGES}/etc/cinder/resource_filters.json',
                        'enabled_backends': 'fake', 'glance_api_servers': IMAGES},
            'fake': {'volume_driver': 'cinder.tests.fake_driver.FakeLoggingVolumeDriver',
                     'volume_backend_name': 'fake'},
            'oslo_concurrency': {'lock_path': folder('cinder', 'lock')},
            'database': database('cinder'), 'keystone_authtoken': checked_login('cinder')}


def write(name, text):
    with open(os.path.join(ETC, name), 'w', encoding='utf-8') as out:
        out.write(text)


def ini(sections):
    return ''.join(f'[{name}]\n' + ''.join(f'{key} = {value}\n' for key, value in options.items())
                   for name, options in sections.items())


def main():
    broker = f'rabbit://guest:guest@{HOST}:{port("RABBIT")}/'
    for name, settings in (('keystone', keystone()), ('placement', placement()), ('glance', glance()),
                           ('neutron', neutron(broker)), ('nova', nova(broker)), ('cinder', cinder(broker))):
        write(f'{name}.conf', ini({**settings, 'profiler': PROFILER}))
    # What `limit` changes stays; nova-compute alone reads it.
    if not os.path.exists(os.path.join(ETC, 'nova-builds.conf')):
        write('nova-builds.conf', ini({'DEFAULT': {'max_concurrent_builds': 1}}))
    for name in ('redis', 'rabbitmq'):
        folder(name)
    write('rabbitmq.conf', f'listeners.tcp.1 = {HOST}:{port("RABBIT")}\nlog.file.level = warning\n')
    write('rabbitmq.config', '[{kernel, [{inet_dist_use_interface, {127, 0, 0, 1}}]}].\n')
    write('rabbitmq.plugins', '[].\n')


if __name__ == '__main__':
    main()
