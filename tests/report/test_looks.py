#!/usr/bin/env python3
"""The reports as a person sees them: HTML in a real Chromium, text in a terminal. usage: test_looks.py BIN [SANITIZER];
PYTHIA_SCREENSHOTS: a folder for the pictures (else they are made, and thrown away)"""
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "pythiad"))
import browser  # noqa: E402
import rig  # noqa: E402

OPENSTACK = os.path.join(HERE, "..", "..", "datasets", "openstack")
CAPTURE = "contention.jsonl.zst"
REPORTS = {  # to be run where the files are: reports name them
    "replay": ("replay", "-q", "--trace-url", "http://jaeger/trace/{trace_id}", CAPTURE),
    "search": ("replay", "-q", "--closed-loop", CAPTURE),
    "open": ("replay", "-q", "--open", "open.txt", CAPTURE),
    "compare": ("compare", "-q", "baseline.jsonl.zst", CAPTURE),
}
COLOURS = {"": "#ddd", "1": "#fff", "2": "#999", "31": "#f66", "32": "#7e7", "33": "#fd6", "36": "#6df"}


def in_terminal(columns, *command):
    """What a command writes to a terminal of so many columns."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
        os.chdir(OPENSTACK)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.execvpe(command[0], command, {**environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
    written = b""
    try:
        while more := os.read(terminal, 1 << 16):
            written += more
    except OSError:  # the terminal of a program that has ended
        pass
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, written
    return written.decode().replace("\r\n", "\n")


def as_page(text):
    """What the terminal shows, as HTML: its colours, and which text is bold or faint."""
    parts = re.split(r"\033\[([0-9;]*)m", text)
    marked = [html.escape(parts[0])]
    for codes, part in zip(parts[1::2], parts[2::2]):
        codes = codes.split(";")
        colour = next((COLOURS[code] for code in reversed(codes) if code in COLOURS), COLOURS[""])
        marked.append(f'<span style="color:{colour};font-weight:{"bold" if "1" in codes else "normal"}">{html.escape(part)}</span>')
    return f'<meta charset="utf-8"><body style="background:#111;color:{COLOURS[""]}"><pre>{"".join(marked)}</pre>'


@unittest.skipUnless(browser.find(), "chromium is not installed")
class Looks(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = os.path.abspath(os.environ.get("PYTHIA_SCREENSHOTS") or rig.make_folder(self))
        os.makedirs(self.folder, exist_ok=True)
        self.browser = browser.Browser(self)

    def show(self, name):
        self.browser.open(f"file://{self.folder}/{name}.html")

    def test_html_is_accessible_and_fits_every_width(self):
        faults = []
        for name, command in REPORTS.items():
            subprocess.run([rig.program("pythia"), *command, "--format", "html", "-o", f"{self.folder}/{name}.html"], check=True,
                           cwd=OPENSTACK)
            self.show(name)
            faults += self.browser.look_at(f"{self.folder}/report-{name}", (320, 1280, 3840))
        self.assertEqual(faults, [])
        self.assertEqual(self.browser.messages, [])

    def test_text_fits_terminals_of_80_and_120_columns(self):
        for name, command in REPORTS.items():
            for columns in (80, 120):
                text = in_terminal(columns, rig.program("pythia"), *command)
                lines = re.sub(r"\033\[[0-9;]*m", "", text).splitlines()
                self.assertIn("build_semaphore" if name != "open" else "build_and_run_instance", text)
                self.assertLessEqual(len(lines), 40)
                self.assertEqual([line for line in lines if len(line) > columns], [])
                with open(f"{self.folder}/terminal.html", "w", encoding="utf-8") as page:
                    page.write(as_page(text))
                self.show("terminal")
                self.browser.look(8 * columns + 32)
                self.browser.screenshot(f"{self.folder}/terminal-{name}-{columns}.png")


if __name__ == "__main__":
    rig.main()
