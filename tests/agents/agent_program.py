# SPDX-License-Identifier: MIT
"""The program that is tested, from the driver's side: commands in, answers and spans out. See README.md."""
import json
import os
import queue
import subprocess
import threading


class ProgramEnded(AssertionError):
    pass


class AgentProgram:
    """A program with an agent, started with `environment` added to this process's."""

    def __init__(self, command, environment, patience_s):
        self.patience_s, self.spans, self.answers, self.errors = patience_s, [], queue.Queue(), []
        self.child = subprocess.Popen(command, env={**os.environ, **environment}, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.readers = [threading.Thread(target=self.read_answers, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()
        self.name = self.next_answer().get('agent', '')

    def read_answers(self):
        for line in self.child.stdout:
            value = json.loads(line)
            if 'span' in value:
                self.spans.append(value['span'])
            else:
                self.answers.put(value)
        self.answers.put(None)

    def read_errors(self):
        for line in self.child.stderr:
            self.errors.append(line.decode(errors='replace').rstrip())

    def next_answer(self):
        try:
            value = self.answers.get(timeout=self.patience_s)
        except queue.Empty:
            raise AssertionError('the program does not answer') from None
        if value is None:
            self.child.wait()
            raise ProgramEnded(f'the program ended with {self.child.returncode}: {self.errors[-5:]}')
        return value

    def send(self, command):
        self.child.stdin.write(json.dumps(command).encode() + b'\n')
        self.child.stdin.flush()

    def do(self, name, **arguments):
        """The answer to a command; its spans replace those of the last one."""
        self.spans = []
        self.send({'do': name, **arguments})
        return self.next_answer()

    def end(self):
        """Its exit status once its input has ended."""
        self.child.stdin.close()
        try:
            self.child.wait(self.patience_s)
        except subprocess.TimeoutExpired:
            raise AssertionError('the program does not end') from None
        for reader in self.readers:
            reader.join(self.patience_s)
        return self.child.returncode

    def kill(self):
        self.child.kill()
        self.child.wait()


def shape(spans, above=''):
    """Who hangs on whom, sorted: "a b<a" is a root a with a child b; a parent that is not among the spans is "orphan", or
    "remote" if its id is `above`."""
    names = {(span['trace'], span['id']): span['name'] for span in spans}

    def parent(span):
        if not span['parent']:
            return ''
        other = 'remote' if span['parent'] == above else 'orphan'
        return '<' + names.get((span['trace'], span['parent']), other)
    return ' '.join(sorted(span['name'] + parent(span) for span in spans))
