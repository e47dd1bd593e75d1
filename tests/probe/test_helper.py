#!/usr/bin/env python3
"""What pythia-probe does to real programs. usage: test_helper.py FOLDER-OF-PROGRAMS [CLASS.TEST]"""
import mmap
import os
import pwd
import re
import shutil
import socket
import struct
import subprocess
import sys
import unittest

import helper

BINARIES = sys.argv[1]
PROBE = os.path.join(BINARIES, "pythia-probe")
TARGET = os.path.join(BINARIES, "probe_target")


class OfOneTarget(unittest.TestCase):
    texts = "work__start:2"

    def setUp(self):
        self.folder = helper.trusted_folder()
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder)
        self.target = helper.Target(TARGET, self.folder, 3)
        self.addCleanup(self.target.end)
        self.path = self.target.path

    def begin(self, *options, allow=None):
        probe = helper.Helper(PROBE, self.folder, allow or f"{self.path} {self.texts}\n", *options)
        self.addCleanup(probe.kill)
        client = helper.Client(probe.socket)
        self.addCleanup(client.close)
        return probe, client

    def attach(self, client, name, number):
        self.assertEqual(client.ask(f"attach target:{name} {self.path}"),
                         f"attached {number} target:{name} {self.path}")


class Hits(OfOneTarget):
    def test_arguments_are_what_the_program_passes(self):
        _, client = self.begin()
        self.attach(client, "work__start", 1)
        self.attach(client, "work__done", 2)
        self.assertEqual(self.target.fire("a text"), 2)
        hits = client.hits()
        self.assertEqual([hit[2] for hit in hits], [1, 2, 1, 2, 1, 2])
        for i in range(3):
            _, pid, _, values, texts = hits[2 * i]
            self.assertEqual(pid, self.target.process.pid)
            # the number; the text's bytes with its NUL; places[1], places[2]; %al of 0x1ff; -17; unknown
            self.assertEqual(values, (i, 7, -2, -3, 0xff, -17, 0))
            self.assertEqual(texts, [b"a text"])
            self.assertEqual(hits[2 * i + 1][3], (i,))

    def test_texts_are_cut_at_256_bytes(self):
        _, client = self.begin()
        self.attach(client, "work__start", 1)
        self.target.fire("x" * 400)
        hit = client.hits()[0]
        self.assertEqual((hit[3][1], hit[4]), (256, [b"x" * 255]))

    def test_no_text_is_read_that_root_has_not_listed(self):
        self.texts = "work__done:1"
        _, client = self.begin()
        self.attach(client, "work__start", 1)
        self.attach(client, "work__done", 2)
        self.target.fire("secret")
        hits = client.hits()
        self.assertEqual(hits[0][4], [])
        self.assertEqual(hits[1][3], (-14,)) # 0 is no address: EFAULT
        self.assertEqual(hits[1][4], [b""])

    def test_what_is_detached_costs_nothing_and_gives_nothing(self):
        _, client = self.begin()
        self.attach(client, "work__start", 1)
        client.ask(f"detach target:work__start {self.path}")
        self.assertEqual(self.target.fire(), 0)
        self.assertEqual(client.hits(), [])

    def test_a_site_that_is_too_expensive_is_refused_before_it_is_open(self):
        _, client = self.begin("--max-price", "0")
        answer = client.ask(f"attach target:step {self.path}")
        self.assertRegex(answer, r"^refused target:step .*: a hit costs \d+ ns at 0x[0-9a-f]+ \(step\), too much for --max-price 0; --force opens it$")
        for name in ("nop5", "nop", "push", "branch", "step", "return"):
            self.assertRegex(client.greeting, rf" {name}=\d+")


    def test_force_opens_what_is_too_expensive(self):
        _, client = self.begin("--max-price", "0", "--force")
        self.attach(client, "step", 1)
        self.target.fire()
        self.assertEqual(len(client.hits()), 3)


class Functions(OfOneTarget):
    """work(number, text) of the target, which is static, and has no probe: it returns 1000 + number."""
    texts = "functions work:2"

    def attach_function(self, client, name, number):
        self.assertEqual(client.ask(f"attach function:{name} {self.path}"), f"attached {number} function:{name} {self.path}")

    def check_hits(self, client):
        self.attach_function(client, "work", 1)
        self.attach_function(client, "work%return", 2)
        self.target.fire("a text")
        hits = client.hits()
        self.assertEqual([hit[2] for hit in hits], [1, 2, 1, 2, 1, 2])
        for i in range(3):
            self.assertEqual((hits[2 * i][3][:2], hits[2 * i][4]), ((i, 7), [b"a text"]))
            self.assertEqual(hits[2 * i + 1][3], (1000 + i,))
            self.assertLess(hits[2 * i][0], hits[2 * i + 1][0])

    def test_begin_and_return_are_reported_with_arguments_and_result(self):
        self.check_hits(self.begin("--force")[1]) # a function may begin with an instruction that is expensive

    def test_a_function_that_is_not_there_is_refused(self):
        _, client = self.begin()
        self.assertEqual(client.ask(f"attach function:wor {self.path}"),
                         f"refused function:wor {self.path}: the program has no such function")

    def test_functions_of_a_stripped_program_are_found_by_its_debug_file(self):
        notes = subprocess.run(["readelf", "--notes", self.path], capture_output=True, text=True, check=True).stdout
        found = re.search(r"Build ID: ([0-9a-f]+)", notes)
        if not found:
            self.skipTest("this build has no build ids")
        debug = f"/usr/lib/debug/.build-id/{found[1][:2]}/{found[1][2:]}.debug"
        self.target.end()
        subprocess.run(["strip", "--only-keep-debug", self.path, "-o", self.path + ".debug"], check=True)
        subprocess.run(["strip", self.path], check=True)
        self.target = helper.Target(TARGET, self.folder, 3)
        self.addCleanup(self.target.end)
        _, client = self.begin("--force")
        self.assertIn("the program has no such function", client.ask(f"attach function:work {self.path}"))
        if not os.path.isdir(os.path.dirname(debug)):
            os.makedirs(os.path.dirname(debug))
            self.addCleanup(os.rmdir, os.path.dirname(debug))
        self.addCleanup(os.unlink, debug)
        shutil.copy(self.path + ".debug", debug)
        os.chmod(debug, 0o644)
        self.check_hits(client)

    def test_functions_are_refused_unless_root_allows_them(self):
        self.texts = "work:2"
        _, client = self.begin()
        self.assertEqual(client.ask(f"attach function:work {self.path}"),
                         f"refused function:work {self.path}: the allow-list must have 'functions' after the program")


class Processes(OfOneTarget):
    """Another process runs the same program."""
    texts = "functions"

    def setUp(self):
        super().setUp()
        self.other = helper.Target(TARGET, self.folder, 3)
        self.addCleanup(self.other.end)

    def attach_in(self, client, pid, number=1, name="target:work__start"):
        self.assertEqual(client.ask(f"attach {name} {self.path} {pid}"), f"attached {number} {name} {self.path} {pid}")

    def test_a_probe_of_one_process_is_not_in_another(self):
        for name in ("target:work__start", "function:work"):
            with self.subTest(name):
                _, client = self.begin("--force")
                self.attach_in(client, self.target.process.pid, name=name)
                for _ in range(2):
                    self.target.fire()
                    self.other.fire()
                hits = client.hits()
                self.assertEqual([hit[1] for hit in hits], [self.target.process.pid] * 6)
                self.assertEqual(client.lost, 0)
                client.close()

    def test_the_instruction_of_the_other_process_is_as_it_was(self):
        _, client = self.begin()
        before = [code_at(one, "work__start") for one in (self.target, self.other)]
        self.assertEqual(before, [b"\x90", b"\x90"])
        self.attach_in(client, self.target.process.pid)
        self.assertEqual([code_at(one, "work__start") for one in (self.target, self.other)], [b"\xcc", b"\x90"])

    def test_a_flood_in_a_process_that_was_not_named_takes_no_place_in_the_rings(self):
        _, client = self.begin()
        flood = helper.Target(TARGET, self.folder, 200000) # a ring has 262144 bytes, a hit 96
        self.addCleanup(flood.end)
        self.attach_in(client, self.target.process.pid)
        flood.fire()
        self.target.fire()
        self.assertEqual((len(client.hits()), client.lost), (3, 0))
        self.assertEqual(client.ask(f"attach target:work__start {self.path}"), f"attached 2 target:work__start {self.path}")
        flood.fire()
        self.assertLess(len(client.hits()), 200000) # where the probe is in every process, the same flood does not fit

    def test_a_process_that_is_not_there_is_refused(self):
        _, client = self.begin()
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.assertEqual(client.ask(f"attach target:work__start {self.path} {gone.pid}"),
                         f"refused target:work__start {self.path} {gone.pid}: there is no process {gone.pid}")

    def test_a_process_that_got_the_number_of_a_dead_one_is_another(self):
        _, client = self.begin()
        named = helper.Target(TARGET, self.folder, 3)
        pid = named.process.pid
        self.attach_in(client, pid)
        named.end()
        again = reuse_pid(pid, self.folder)
        self.addCleanup(again.end)
        again.fire()
        self.assertEqual(client.hits(), [])
        client.ask(f"detach target:work__start {self.path} {pid}")
        self.attach_in(client, pid, 2)
        again.fire()
        self.assertEqual([hit[1] for hit in client.hits()], [pid] * 3)

    def test_a_child_of_a_process_is_not_in_its_probe_and_lives(self):
        _, client = self.begin()
        self.attach_in(client, self.target.process.pid)
        self.target.fire("fork")
        self.assertEqual([hit[1] for hit in client.hits()], [self.target.process.pid] * 3)


class Requests(OfOneTarget):
    """Which hits are reported: those of threads that are in a request, if that is asked for."""

    def ask(self, client, *messages):
        for i, message in enumerate(messages):
            words = message.split()
            self.assertEqual(client.ask(f"{message} {self.path}"), f"attached {i + 1} {words[-1]} {self.path}")

    def numbers(self, client):
        self.target.fire()
        return [hit[2] for hit in client.hits()]

    def test_hits_outside_of_a_request_are_not_reported(self):
        _, client = self.begin("--force")
        self.ask(client, "within target:step")
        self.assertEqual(self.numbers(client), [])

    def test_one_of_64_hits_outside_of_requests_is_counted(self):
        _, client = self.begin("--force")
        target = helper.Target(TARGET, self.folder, 48000)
        self.addCleanup(target.end)
        self.ask(client, "within target:step")
        target.fire()
        self.assertEqual(client.hits(), [])
        sampled, expected = client.outside, 48000 / 64
        self.assertLess(abs(sampled - expected), 6 * expected ** .5) # six standard deviations
        self.ask2(client, "enter 1 target:work__start", 2)
        target.fire()
        client.hits()
        self.assertLess(client.outside, sampled + 10) # those before its first request

    def test_hits_of_a_request_are_reported_until_it_ends(self):
        _, client = self.begin("--force")
        # in this order the target hits them, three times: work__start, work__done, step
        self.ask(client, "within target:step", "enter 1 target:work__start")
        self.assertEqual(self.numbers(client), [2, 1, 2, 1, 2, 1])
        client.ask(f"detach target:work__start {self.path}")
        self.ask2(client, "leave 1 target:work__done", 3)
        self.assertEqual(self.numbers(client), [1, 3, 3, 3][1:]) # the first one ends the last request

    def ask2(self, client, message, number):
        self.assertEqual(client.ask(f"{message} {self.path}"), f"attached {number} {message.split()[-1]} {self.path}")

    def test_a_request_inside_of_another_does_not_end_it(self):
        _, client = self.begin("--force")
        self.ask(client, "within target:step", "enter 1 target:work__start", "leave 2 target:work__done")
        self.assertEqual(self.numbers(client), [2, 3, 1, 2, 3, 1, 2, 3, 1])
        client.ask(f"detach target:work__done {self.path}")
        self.ask2(client, "leave 1 target:work__done", 4)
        self.assertEqual(self.numbers(client), [2, 4, 2, 4, 2, 4])

    def test_another_client_has_requests_of_its_own(self):
        probe, client = self.begin("--force")
        other = helper.Client(probe.socket)
        self.addCleanup(other.close)
        self.ask(client, "enter 1 target:work__start")
        self.ask(other, "within target:step")
        self.assertEqual(self.numbers(client), [1, 1, 1])
        self.assertEqual(other.hits(), [])


class Kernel(OfOneTarget):
    """What the kernel does for a thread from work__start to step: with "pause" it sleeps between them."""
    EVENTS = {name: number for number, name in enumerate(
        ["switch_out", "switch_in", "waking", "system_call", "system_return", "page_fault", "block_issue"], 3)}
    NANOSLEEP = (35, 230)

    def open(self, client):
        for i, message in enumerate(["enter 0 target:work__start", "leave 0 target:step"]):
            self.assertEqual(client.ask(f"{message} {self.path}"), f"attached {i + 1} {message.split()[-1]} {self.path}")
        for name, number in self.EVENTS.items():
            answer = client.ask(f"within kernel:{name} {helper.KERNEL}")
            if "No such file" in answer:
                self.skipTest(answer)
            self.assertEqual(answer, f"attached {number} kernel:{name} {helper.KERNEL}")

    def test_a_thread_in_a_request_is_seen_to_sleep_and_to_wake(self):
        _, client = self.begin("--force", allow=f"{self.path}\n{helper.KERNEL}\n")
        self.open(client)
        names, all_kinds = {number: name for name, number in self.EVENTS.items()}, set()

        def sleep():
            """The events of one sleep. The kernel runs no program of a trace point on a processor that runs one already: of 4500
            sleeps beside a build 95 had no wake-up, and recursion_misses of its program (in fdinfo) was 137, of all threads."""
            self.target.fire("pause")
            hits = client.hits()
            self.assertEqual({hit[1] for hit in hits}, {self.target.process.pid})
            all_kinds.update(names.get(hit[2]) for hit in hits)
            begin = next(i for i, hit in enumerate(hits) if names.get(hit[2]) == "system_call" and hit[3][0] in self.NANOSLEEP)
            seen = [(names.get(hit[2]), hit[3], hit[0]) for hit in hits[begin:]]
            kinds = [name for name, _, _ in seen]
            out = kinds.index("switch_out")
            return seen, kinds, out, kinds.index("switch_in", out)
        seen, kinds, out, back = next(one for one in (sleep() for _ in range(10)) if "waking" in one[1][one[2]:one[3]])
        woken = kinds.index("waking", out)
        self.assertEqual(seen[out][1], (1,)) # it sleeps, and could be interrupted
        self.assertLess(back, kinds.index("system_return", out))
        self.assertGreaterEqual(seen[woken][2] - seen[out][2], 900000) # of a millisecond, at least that it slept
        self.assertIn("page_fault", all_kinds)

    def open_retransmits(self, client, process=""):
        for i, message in enumerate(["enter 0 target:work__start", "leave 0 target:step"]):
            self.assertEqual(client.ask(f"{message} {self.path}{process}"),
                             f"attached {i + 1} {message.split()[-1]} {self.path}{process}")
        for number, name in enumerate(["connect", "send", "retransmit"], 3):
            answer = client.ask(f"within kernel:{name} {helper.KERNEL}")
            if "No such file" in answer: # before Linux 6.3
                self.skipTest(answer)
            self.assertEqual(answer, f"attached {number} kernel:{name} {helper.KERNEL}")

    def check_retransmits(self, what):
        _, client = self.begin("--force", allow=f"{self.path}\n{helper.KERNEL}\n")
        self.open_retransmits(client)
        self.target.fire(what)
        requests = found = begun = here = 0
        for time, pid, number, values, _ in client.hits():
            self.assertEqual(pid, self.target.process.pid)
            if number == 1:
                begun, requests, here = time, requests + 1, 0
            elif number == 5:
                self.assertLess(begun, values[0]) # when it was sent
                self.assertLess(values[0] + 1000000, time) # a timer has sent it again
                here += 1
            else:
                self.assertEqual(number, 2)
                found += here > 0
        self.assertEqual((requests, found), (3, 3))

    def test_a_segment_that_is_sent_again_is_reported_for_the_thread_that_sent_it(self):
        self.check_retransmits("send")

    def test_an_attempt_to_connect_that_is_repeated_is_reported_for_its_thread(self):
        self.check_retransmits("connect")

    def test_what_is_sent_again_for_a_thread_in_no_request_is_not_reported(self):
        other = helper.Target(TARGET, self.folder, 3)
        self.addCleanup(other.end)
        _, client = self.begin("--force", allow=f"{self.path}\n{helper.KERNEL}\n")
        self.open_retransmits(client, f" {self.target.process.pid}")
        other.fire("send")
        self.assertEqual(client.hits(), [])
        self.target.fire("send")
        self.assertIn(5, [hit[2] for hit in client.hits()])

    def test_what_the_kernel_does_outside_of_requests_is_not_reported(self):
        _, client = self.begin("--force", allow=f"{self.path}\n{helper.KERNEL}\n")
        self.open(client)
        client.ask(f"detach target:work__start {self.path}")
        self.target.fire("pause")
        self.assertEqual([hit for hit in client.hits() if hit[2] > 2], [])

    def count_outside(self, event, act):
        """Hits that were sampled while `act` ran, of all threads of the machine."""
        _, client = self.begin(allow=f"{self.path}\n{helper.KERNEL}\n")
        answer = client.ask(f"within kernel:{event} {helper.KERNEL}")
        if "No such file" in answer:
            self.skipTest(answer)
        self.assertEqual(answer, f"attached 1 kernel:{event} {helper.KERNEL}")
        act()
        self.assertEqual(client.hits(), [])
        self.assertEqual(client.lost, 0)
        return client.outside

    def test_one_of_64_hits_of_the_kernel_outside_of_requests_is_counted(self):
        def call():
            for _ in range(48000):
                os.getppid()
        expected = 48000 / 64
        for event in ("system_call", "system_return"):
            with self.subTest(event):
                self.assertGreater(self.count_outside(event, call), expected - 6 * expected ** .5) # six standard deviations

    def test_hits_of_each_kind_outside_of_requests_are_counted(self):
        """Those of a thread that a field has, too, and those that note only who sends. Of 1500 hits none is sampled once in 1e10."""
        def switch():
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as echo:
                for _ in range(1500):
                    echo.stdin.write(b"x")
                    echo.stdout.read(1)

        def fault():
            with mmap.mmap(-1, 1500 * helper.PAGE) as pages:
                pages.madvise(mmap.MADV_NOHUGEPAGE)
                for at in range(0, len(pages), helper.PAGE):
                    pages[at] = 1

        def send():
            with socket.create_server(("127.0.0.1", 0)) as server:
                for _ in range(1500):
                    with socket.create_connection(server.getsockname()) as one, server.accept()[0]:
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        one.send(b"x")
        for event, act in {"switch_out": switch, "switch_in": switch, "waking": switch, "page_fault": fault, "connect": send,
                           "send": send}.items():
            with self.subTest(event):
                self.assertGreater(self.count_outside(event, act), 0)

    def test_the_kernel_is_not_probed_unless_root_lists_it(self):
        _, client = self.begin()
        self.assertEqual(client.ask(f"within kernel:switch_out {helper.KERNEL}"),
                         f"refused kernel:switch_out {helper.KERNEL}: the program is not in the allow-list, which root can change")
        self.assertEqual(client.ask(f"within kernel:switch_out {self.path}"),
                         f"refused kernel:switch_out {self.path}: there is no such probe of the kernel")

    def test_the_kernel_is_probed_for_threads_in_requests_alone(self):
        _, client = self.begin(allow=f"{self.path}\n{helper.KERNEL}\n")
        for message in (f"attach kernel:switch_out {helper.KERNEL}", f"enter 1 kernel:switch_out {helper.KERNEL}",
                        f"within kernel:switch_out {helper.KERNEL} {os.getpid()}", f"within kernel:other {helper.KERNEL}"):
            self.assertRegex(client.ask(message), r"^refused kernel:.*: there is no such probe of the kernel$")


def code_at(target, name):
    """The first byte of the instruction at a static probe, as the process has it."""
    notes = subprocess.run(["readelf", "--notes", "--wide", target.path], capture_output=True, text=True, check=True).stdout
    location = int(re.search(rf"Name: {name}\s+Location: (0x[0-9a-f]+)", notes)[1], 16)
    with open(f"/proc/{target.process.pid}/maps", encoding="utf-8") as maps:
        base = int(next(line for line in maps if target.path in line).split("-")[0], 16)
    with open(f"/proc/{target.process.pid}/mem", "rb") as memory:
        memory.seek(base + location if location < base else location)
        return memory.read(1)


def reuse_pid(pid, folder):
    """Another process of the program with this number."""
    for _ in range(1000):
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as last:
            last.write(str(pid - 1))
        found = helper.Target(TARGET, folder, 3)
        if found.process.pid == pid:
            return found
        found.end()
    raise unittest.SkipTest("other processes begin too often")


class Ends(OfOneTarget):
    def test_kill_of_the_helper_leaves_no_probe(self):
        probe, client = self.begin()
        self.attach(client, "work__start", 1)
        self.assertEqual(self.target.fire(), 1)
        probe.kill()
        client.hits()
        self.assertEqual(self.target.fire(), 0) # the client, which has the rings, lives
        self.assertEqual(client.hits(), [])

    def test_a_client_that_is_killed_leaves_no_probe(self):
        probe, _ = self.begin()
        code = ("import sys, helper; c = helper.Client(sys.argv[1]); print(c.ask(sys.argv[2]), flush=True); "
                "sys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", code, probe.socket, f"attach target:work__start {self.path}"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              cwd=os.path.dirname(os.path.abspath(__file__))) as client:
            self.assertIn("attached 1", client.stdout.readline())
            self.assertEqual(self.target.fire(), 1)
            client.kill()
        while self.target.fire() != 0: # the helper sees it when it next looks; the test's timeout ends this
            pass

    def test_a_lease_that_is_not_renewed_ends(self):
        _, client = self.begin("--lease", "0.5")
        self.attach(client, "work__start", 1)
        while self.target.fire() != 0:
            pass
        self.attach(client, "work__start", 2)

    def test_a_program_that_was_replaced_is_attached_anew(self):
        _, client = self.begin()
        self.attach(client, "work__start", 1)
        shutil.copy(TARGET, self.path + ".next")
        os.rename(self.path + ".next", self.path)
        after = helper.Target(TARGET, self.folder)
        self.addCleanup(after.end)
        self.assertEqual(after.fire(), 0)
        self.attach(client, "work__start", 2)
        self.assertEqual(after.fire(), 1)
        self.assertEqual(self.target.fire(), 0) # the old one is let go
        self.assertEqual([hit[1] for hit in client.hits() if hit[2] == 2], [after.process.pid])


LIBM = "/usr/lib/x86_64-linux-gnu/libm.so.6"


class Missing(OfOneTarget):
    """What is not there, or goes: each is said, and no program is harmed."""

    def start(self, before):
        """Run the helper by a command that takes something from it; what it says."""
        allow = os.path.join(self.folder, "allow")
        with open(allow, "w", encoding="utf-8") as file:
            file.write(self.path + "\n")
        return subprocess.run([*before, PROBE, "--allow", allow, "--socket", os.path.join(self.folder, "socket")],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_a_kernel_without_uprobes_is_named(self):
        unit = "/sys/bus/event_source/devices"
        ran = self.start(["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {unit} || exit 77; exec "$@"', "sh"])
        if ran.returncode == 77:
            self.skipTest("nothing can be mounted here")
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"Cannot start: this kernel has no uprobes ({unit}/uprobe/type)", ran.stderr)

    def test_a_container_without_the_capabilities_is_told_which(self):
        if not shutil.which("setpriv"):
            self.skipTest("there is no setpriv")
        without = "-bpf,-perfmon,-sys_admin"
        ran = self.start(["setpriv", "--bounding-set", without, "--inh-caps", without])
        self.assertEqual(ran.returncode, 1)
        self.assertIn("Operation not permitted (pythia-probe needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN)", ran.stderr)
        self.assertEqual(self.target.fire(), 0)

    def test_the_capabilities_decide_whatever_perf_event_paranoid_says(self):
        path = "/proc/sys/kernel/perf_event_paranoid"
        with open(path, encoding="ascii") as file:
            before = file.read()

        def write(value):
            with open(path, "w", encoding="ascii") as file:
                file.write(value)
        try:
            write("4")
        except OSError as why:
            self.skipTest(str(why))
        self.addCleanup(write, before)
        _, client = self.begin()
        self.attach(client, "work__start", 1)
        self.target.fire()
        self.assertEqual(len(client.hits()), 3)

    def test_a_library_may_be_unloaded_while_it_is_probed(self):
        if not os.path.exists(LIBM):
            self.skipTest(f"there is no {LIBM}")
        path = os.path.join(self.folder, "library.so")
        shutil.copy(LIBM, path)
        _, client = self.begin("--force", allow=f"{path} functions\n")
        code = ("import ctypes, _ctypes, sys\n"
                "for line in sys.stdin:\n"
                "    library = ctypes.CDLL(sys.argv[1])\n"
                "    library.fdim.argtypes, library.fdim.restype = [ctypes.c_double] * 2, ctypes.c_double\n"
                "    print(library.fdim(5, 2), flush=True)\n"
                "    _ctypes.dlclose(library._handle)\n"
                "    assert 'library.so' not in open('/proc/self/maps').read()\n")
        with subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:

            def use():
                user.stdin.write("\n")
                user.stdin.flush()
                self.assertEqual(user.stdout.readline(), "3.0\n")
            use()
            self.assertEqual(client.ask(f"attach function:fdim {path}"), f"attached 1 function:fdim {path}")
            use()
            use()
            self.assertEqual([hit[1] for hit in client.hits()], [user.pid] * 2)
            os.rename(path, path + ".gone")
            self.assertIn("No such file", client.ask(f"attach function:fdim {path}"))
            os.rename(path + ".gone", path)
            use()
            self.assertEqual(client.hits(), [])
            user.stdin.close()
            self.assertEqual(user.wait(), 0)


class Users(OfOneTarget):
    def connect(self, probe, user):
        os.seteuid(pwd.getpwnam(user).pw_uid)
        try:
            return helper.Client(probe.socket)
        finally:
            os.seteuid(0)

    def greet(self, probe, user):
        return self.connect(probe, user).greeting

    def test_a_listed_user_may_do_what_the_table_in_the_manual_says(self):
        """The rows of pythia-probe(8), PERMISSIONS, as the user daemon; the target belongs to root."""
        other, pid = os.path.join(self.folder, "other"), self.target.process.pid
        shutil.copy(TARGET, other)
        probe = helper.Helper(PROBE, self.folder, f"user daemon\n{self.path} functions work__start:2\n{helper.KERNEL}\n", "--force")
        self.addCleanup(probe.kill)
        client = self.connect(probe, "daemon")
        self.addCleanup(client.close)
        self.attach(client, "work__start", 1)
        self.assertIn("the program is not in the allow-list", client.ask(f"attach target:work__start {other}"))
        self.assertEqual(client.ask(f"attach function:work {self.path}"), f"attached 2 function:work {self.path}")
        self.assertEqual(client.ask(f"attach target:work__done {self.path} {pid}"), f"attached 3 target:work__done {self.path} {pid}")
        self.target.fire("a text")
        hits = client.hits()
        self.assertEqual([hit[2] for hit in hits], [1, 3, 2] * 3)
        self.assertEqual([(hit[3][0], hit[4]) for hit in hits[:3]], [(0, [b"a text"]), (0, []), (0, [])])
        self.assertIn("there is no such probe of the kernel", client.ask(f"attach kernel:page_fault {helper.KERNEL}"))
        answer = client.ask(f"within kernel:page_fault {helper.KERNEL}")
        if "No such file" not in answer: # tracefs cannot be mounted here
            self.assertEqual(answer, f"attached 4 kernel:page_fault {helper.KERNEL}")

    def test_only_users_that_are_listed_are_served(self):
        probe, _ = self.begin(allow=f"user daemon\n{self.path}\n")
        self.assertIn("rings ", self.greet(probe, "daemon"))
        self.assertEqual(self.greet(probe, "nobody"), "refused : the user is not in the allow-list")

    def test_three_capabilities_are_enough_and_none_is_not(self):
        if not shutil.which("setpriv"):
            self.skipTest("there is no setpriv")
        allow = os.path.join(self.folder, "allow")
        with open(allow, "w", encoding="utf-8") as file:
            file.write(f"user daemon\n{self.path}\n")
        place = os.path.join(self.folder, "run")
        os.mkdir(place)
        shutil.chown(place, "nobody")
        command = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        shutil.copy(PROBE, self.folder) # nobody may not read every folder that a build is in
        probe = [os.path.join(self.folder, "pythia-probe"), "--allow", allow, "--socket", os.path.join(place, "socket")]
        without = subprocess.run([*command, *probe], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(without.returncode, 1)
        self.assertIn("pythia-probe needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN", without.stderr)
        those = "+bpf,+perfmon,+sys_admin"
        with subprocess.Popen([*command, "--inh-caps", those, "--ambient-caps", those, *probe],
                              stderr=subprocess.PIPE, text=True) as process:
            self.assertIn("Serves probes", process.stderr.readline())
            client = helper.Client(os.path.join(place, "socket"))
            self.attach(client, "work__start", 1)
            self.assertEqual(self.target.fire(), 1)
            client.close()
            process.terminate()


if __name__ == "__main__":
    helper.skip_unless_possible(PROBE)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
