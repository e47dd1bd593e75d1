# SPDX-License-Identifier: MIT
"""Settings, which come from the environment."""
import urllib.parse
from collections import namedtuple

Settings = namedtuple('Settings', 'host port path service token off_file')


def read_settings(env):
    """Raises ValueError or OSError, with a sentence that can be shown."""
    url = urllib.parse.urlsplit(env.get('PYTHIA_URL') or 'http://127.0.0.1:4318')
    if url.scheme != 'http' or not url.hostname:
        raise ValueError(f'PYTHIA_URL is {url.geturl()!r}; only http://HOST:PORT is known')
    token = ''
    if env.get('PYTHIA_TOKEN_FILE'):
        with open(env['PYTHIA_TOKEN_FILE'], encoding='ascii') as file:
            token = file.read().strip()
    return Settings(url.hostname, url.port or 80, url.path.rstrip('/'), env.get('PYTHIA_SERVICE', ''), token,
                    env.get('PYTHIA_OFF_FILE', '/run/pythia/off'))
