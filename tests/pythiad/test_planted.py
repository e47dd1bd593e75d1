#!/usr/bin/env python3
"""What another user has put into a folder that everybody can write to, before pythiad creates its files there: each is refused with
its name and its owner, and nothing is written through it. usage: test_planted.py BIN [SANITIZER]"""
import os
import socket
import subprocess
import unittest

import rig

NOBODY = 65534
SILENT = [f"--{name}=off" for name in ("otlp-grpc", "otlp-http", "zipkin", "control")]


@unittest.skipUnless(os.geteuid() == 0, "only root can run programs as another user")
class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = rig.make_folder(self)
        os.chmod(self.folder, 0o1777)
        self.victim = os.path.join(self.folder, "victim")
        with open(self.victim, "w", encoding="ascii") as to:
            to.write("of root")
        os.chmod(self.victim, 0o600)

    def as_nobody(self, *words):
        subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words], check=True)

    def plant(self, name, how):
        """A file of nobody's, a pipe, or a link to a file of root's. Linux lets nobody make a hard link of root's file only where
        fs.protected_hardlinks is 0, so that root does it here."""
        path = os.path.join(self.folder, name)
        if how == "file":
            self.as_nobody("touch", path)
            self.as_nobody("chmod", "666", path)
        elif how == "pipe":
            self.as_nobody("mkfifo", "-m", "666", path)
        elif how == "symbolic link":
            self.as_nobody("ln", "-s", self.victim, path)
        else:
            os.link(self.victim, path)
        return path

    def check(self, name, how, why, *options):
        with self.subTest(name=name, how=how):
            path = self.plant(name, how)
            try:
                status, said = rig.run(self, *options, *SILENT)
                self.assertEqual(status, 1, said)
                self.assertIn(path, said)
                self.assertIn(why, said)
                with open(self.victim, encoding="ascii") as text:
                    self.assertEqual(text.read(), "of root")
                self.assertEqual(os.lstat(path).st_size if how == "file" else 0, 0)
            finally:
                os.remove(path)

    def check_all(self, name, *options):
        for how, why in (("file", f"is a file of user {NOBODY}"), ("pipe", f"is a file of user {NOBODY}"),
                         ("symbolic link", f"is a symbolic link of user {NOBODY}"), ("hard link", "has 2 names (hard links)")):
            self.check(name, how, why, *options)

    def test_state(self):
        self.check_all("state.db", f"--state={self.folder}/state.db")

    def test_log_and_journal_of_the_state(self):
        pythiad = rig.Pythiad(self, f"--state={self.folder}/state.db")
        self.assertEqual(pythiad.stop(), 0)
        for part in ("-journal", "-wal", "-shm"):
            self.check_all(f"state.db{part}", f"--state={self.folder}/state.db")

    def test_lock_of_the_state(self):
        path = self.plant("state.db.lock", "symbolic link")
        status, said = rig.run(self, f"--state={self.folder}/state.db", *SILENT)
        self.assertEqual(status, 1)
        self.assertIn(f"is a symbolic link of user {NOBODY}", said)
        os.remove(path)
        self.check("state.db.lock", "file", f"is a file of user {NOBODY}", f"--state={self.folder}/state.db")
        self.check("state.db.lock", "hard link", "has 2 names (hard links)", f"--state={self.folder}/state.db")

    def test_secret_for_hashes(self):
        options = (f"--state={self.folder}/state.db", "--redact=enduser.*:hash")
        self.check("state.db.secret", "file", f"is a file of user {NOBODY}", *options)
        self.check("state.db.secret", "pipe", f"is a file of user {NOBODY}", *options)
        self.check("state.db.secret", "symbolic link", f"is a symbolic link of user {NOBODY}", *options)

    def test_tokens(self):
        for role in ("control", "ingest", "agent"):
            self.check("token", "file", f"is a file of user {NOBODY}", f"--{role}-token={self.folder}/token")
        self.check("token", "pipe", f"is a file of user {NOBODY}", f"--control-token={self.folder}/token")
        self.check("token", "symbolic link", f"is a symbolic link of user {NOBODY}", f"--control-token={self.folder}/token")

    def test_socket_that_pythia_ctl_would_send_its_token_to(self):
        path, token = (os.path.join(self.folder, name) for name in ("control.sock", "token"))
        with open(token, "w", encoding="ascii") as to:
            to.write("secret")
        with socket.socket(socket.AF_UNIX) as planted:
            planted.bind(path)
            planted.listen()
            planted.settimeout(0)
            os.chown(path, NOBODY, NOBODY)
            done = subprocess.run([rig.program("pythia"), "ctl", "status", f"--address=unix:{path}", f"--token={token}"],
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{path}: is a socket of user {NOBODY}", done.stderr)
            with self.assertRaises(BlockingIOError):
                planted.accept()

    def test_folder_of_switches_and_rings(self):
        """What is not a folder, or one that others can write to, and what its owner has put into it: root reads everybody's."""
        path = os.path.join(self.folder, "gate")
        for how in ("file", "pipe", "symbolic link", "hard link"):
            self.check("gate", how, "is not a directory", f"--gate={path}")
        os.symlink(self.folder, path)
        status, said = rig.run(self, f"--gate={path}", *SILENT)
        self.assertEqual(status, 1)
        self.assertIn(f"{path} is not a directory", said)
        os.remove(path)
        self.as_nobody("mkdir", "-m", "777", path)
        status, said = rig.run(self, f"--gate={path}", *SILENT)
        self.assertEqual(status, 1)
        self.assertIn(f"{path} may be written to by others than its owner", said)
        os.chmod(path, 0o700)
        for how, why in (("symbolic link", "it is a symbolic link"), ("hard link", "it is not a plain file, or has several names"),
                         ("pipe", "it is not a plain file, or has several names")):
            self.check("gate/reader.lock", how, f"{path}/reader.lock: {why}", f"--gate={path}")
        for how, why in (("symbolic link", "its file cannot be opened"), ("hard link", "its file is cut short, or not one line"),
                         ("pipe", "its file is not a plain file")):
            with self.subTest(how=how):
                for name in os.listdir(path):
                    os.remove(os.path.join(path, name))
                planted = self.plant("gate/switchboard-2", how)
                pythiad = rig.Pythiad(self, f"--gate={path}")
                pythiad.logged(f"Trace points of programs cannot be switched: the switchboard of {path}: {why}")
                self.assertEqual(pythiad.stop(), 0)
                with open(self.victim, encoding="ascii") as text:
                    self.assertEqual(text.read(), "of root")
                os.remove(planted)

    def test_log_of_spans(self):
        self.check_all("spans.log", f"--span-log={self.folder}/spans.log")

    def test_recording(self):
        """A file of nobody's is put aside, as any that is there; what is no recording is left alone."""
        path = self.plant("recording", "file")
        pythiad = rig.Pythiad(self, f"--record={path}")
        self.assertEqual(pythiad.stop(), 0)
        self.assertEqual(os.stat(path).st_uid, 0)
        for how in ("symbolic link", "hard link"):
            self.check(f"other-{how[0]}", how, "a file that is not a recording exists there and was left alone",
                       f"--record={self.folder}/other-{how[0]}")


if __name__ == "__main__":
    rig.main()
