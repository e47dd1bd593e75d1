# SPDX-License-Identifier: MIT
"""A broker of Kafka on the loopback, from the jars of Maven Central, which are kept in ~/.cache/pythia."""
import os
import shutil
import socket
import subprocess
import sys
import time

import daemon

VERSION = '4.1.0'
CACHE = os.path.join(os.path.expanduser('~'), '.cache', 'pythia', f'kafka-{VERSION}')
JARS = os.path.join(CACHE, 'jars')
PASSWORD = 'a&b%'  # a URL has to escape it

POM = f'''<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>pythia</groupId><artifactId>kafka</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
</dependencies></project>'''

# Whoever comes by the plain listener may do everything, the user "pythia" what the rules allow: here nothing but reading the
# topic "open" in the group "pythia".
SETTINGS = '''process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{sasl}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_pythia="{password}";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs={folder}/log
num.network.threads=2
num.io.threads=2
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
'''


def fetch():
    """Have the jars. Ends with 77, and says why, where they cannot be had."""
    for tool in ('java', 'mvn'):
        if not shutil.which(tool):
            print(f'there is no {tool}: ./dev setup-live installs it', flush=True)
            sys.exit(77)
    if os.path.isdir(JARS):
        return
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'pom.xml'), 'w', encoding='utf-8') as to:
        to.write(POM)
    part = JARS + '.part'
    done = subprocess.run(['mvn', '-q', '-B', 'dependency:copy-dependencies', f'-DoutputDirectory={part}'], cwd=CACHE,
                          check=False)
    if done.returncode != 0:
        print("Maven Central's packages cannot be had", flush=True)
        sys.exit(77)
    os.rename(part, JARS)


class Broker:
    """Started with a folder of its own, empty at first."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.port, self.sasl, controller = (daemon.free_port() for _ in range(3))
        self.address = f'127.0.0.1:{self.port}'
        self.settings = os.path.join(folder, 'server.properties')
        with open(self.settings, 'w', encoding='utf-8') as to:
            to.write(SETTINGS.format(port=self.port, sasl=self.sasl, controller=controller, folder=folder, password=PASSWORD))
        subprocess.run([*self.java(), 'kafka.tools.StorageTool', 'format', '-t', '4L6g3nShT-eMCtK--X86sw', '-c', self.settings],
                       check=True, stdout=subprocess.DEVNULL)
        self.start()

    @staticmethod
    def java():
        return ['java', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx256m', '-cp', os.path.join(JARS, '*')]

    def start(self):
        with open(os.path.join(self.folder, 'broker.log'), 'ab') as out:
            self.process = subprocess.Popen([*self.java(), 'kafka.Kafka', self.settings], stdout=out, stderr=out)
        while not self.answers():
            if self.process.poll() is not None:
                raise AssertionError(f'the broker has ended: see {self.folder}/broker.log')
            time.sleep(.1)

    def answers(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


if __name__ == '__main__':
    fetch()
