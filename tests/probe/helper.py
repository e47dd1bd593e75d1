"""pythia-probe and a program to probe, for tests: where the machine does not allow it, they say so and are skipped."""
import array
import mmap
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

PAGES = 64
OUTSIDE = 0x80000000 # in the numbers of hits outside of requests, of which 1 of 64 is reported
KERNEL = "/sys/kernel/tracing"
PAGE = os.sysconf("SC_PAGE_SIZE")


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def trusted_folder():
    """A new folder that only root can change, as the helper wants it of all that it opens."""
    if os.geteuid() != 0:
        skip("only root can make an allow-list")
    for parent in ("/run", "/var/lib"):
        try:
            return tempfile.mkdtemp(prefix="pythia-probe-test.", dir=parent)
        except OSError:
            pass
    return skip("there is no folder that belongs to root alone")


class Helper:
    """A running pythia-probe."""

    def __init__(self, binary, folder, allow, *options):
        self.socket = os.path.join(folder, "socket")
        path = os.path.join(folder, "allow")
        with open(path, "w", encoding="utf-8") as file:
            file.write(allow)
        os.chmod(path, 0o644)
        command = [binary, "--allow", path, "--socket", self.socket, *options]
        if KERNEL in allow: # in a mount of its own, where the machine has none
            command = ["unshare", "--mount", "sh", "-c",
                       f'[ -d {KERNEL}/events ] || mount -t tracefs tracefs {KERNEL}; exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.first = self.process.stderr.readline()
        if "Serves probes" not in self.first:
            self.process.wait()
            skip("this machine does not let probes be opened: " + self.first.strip())

    def kill(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()


def skip_unless_possible(binary):
    folder = trusted_folder()
    try:
        Helper(binary, folder, "").kill()
    finally:
        shutil.rmtree(folder)


class Client:
    """A client of it, with its rings mapped."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(30)
        self.socket.connect(path)
        text, control, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(4 * 253))
        self.greeting = text.decode()
        self.lost = self.outside = 0
        descriptors = array.array("i")
        for _, _, data in control:
            descriptors.frombytes(data)
        self.rings = [mmap.mmap(one, (1 + PAGES) * PAGE) for one in descriptors]
        for one in descriptors:
            os.close(one)

    def ask(self, message):
        self.socket.send(message.encode())
        return self.receive(False)

    def receive(self, prices):
        """The next message that is an answer, or one that says new prices."""
        while True:
            text = self.socket.recv(8192).decode()
            if text.startswith("prices ") == prices:
                return text

    def hits(self):
        """All hits so far, in order of time: (time, pid, number, values, texts)."""
        found = []
        for ring in self.rings:
            head, tail = struct.unpack_from("<QQ", ring, 1024)
            data = ring[PAGE:]
            while tail < head:
                at = tail % len(data)
                kind, _, size = struct.unpack_from("<IHH", data, at)
                record = (data + data)[at:at + size]
                if kind == 2:
                    self.lost += struct.unpack_from("<Q", data + data, at + 16)[0]
                if kind == 9:
                    hit = read_hit(record[12:])
                    if hit[2] & OUTSIDE:
                        self.outside += 1
                    else:
                        found.append(hit)
                tail += size
            struct.pack_into("<Q", ring, 1032, tail)
        return sorted(found)

    def close(self):
        for ring in self.rings:
            ring.close()
        self.socket.close()


def read_hit(record):
    time, thread, number, texts, count = struct.unpack_from("<QQIHH", record)
    values = struct.unpack_from(f"<{count}q", record, 24)
    slots = bin(texts).count("1")
    strings = []
    for i in range(slots):
        width = 256 // slots
        strings.append(record[24 + 8 * count + i * width:][:width].split(b"\0")[0])
    return time, thread >> 32, number, values, strings


class Target:
    """The program that is probed; a copy, so that it can be replaced."""

    def __init__(self, binary, folder, times=1):
        self.path = os.path.join(folder, "target")
        if not os.path.exists(self.path):
            shutil.copy(binary, self.path)
        self.process = subprocess.Popen([self.path, str(times)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def fire(self, text="x"):
        """Returns its semaphore, which counts who looks."""
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
