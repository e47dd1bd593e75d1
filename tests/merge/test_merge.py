#!/usr/bin/env python3
"""The report of merged evidence is the report of a replay of everything, byte for byte: over partitions, orders and
trees of merges. usage: test_merge.py PYTHIA [TEST...]"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import captures  # noqa: E402

PYTHIA = os.path.abspath(sys.argv.pop(1)) if __name__ == "__main__" else "pythia"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEEDS = 20


def run(*words, ok=(0, 3, 4), cwd=None):
    done = subprocess.run([PYTHIA, *words], cwd=cwd, capture_output=True, check=False)
    if done.returncode not in ok:
        raise AssertionError("%s: exit status %d: %s" % (" ".join(words), done.returncode, done.stderr.decode()))
    return done


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def gather(self, paths, options=()):
        files = []
        for i, path in enumerate(paths):
            run("replay", "-q", "--evidence", self.at("%d.evidence" % i), *options, path)
            files.append(self.at("%d.evidence" % i))
        return files

    def merge_by_tree(self, draw, files):
        """Merge some of the files, and what comes of them, until a few are left."""
        left, made = list(files), 0
        while len(left) > 3 or (len(left) > 1 and draw.random() < .5):
            draw.shuffle(left)
            count = draw.randrange(2, len(left) + 1)
            path = self.at("tree-%d.evidence" % made)
            made += 1
            run("merge", "-q", "--evidence", path, *left[:count])
            left = left[count:] + [path]
        draw.shuffle(left)
        return left

    def check_merges(self, draw, files, whole):
        """Evidence of parts, merged flat and by a tree, against the report of a replay of them."""
        files = list(files)
        draw.shuffle(files)
        self.assertEqual(run("merge", "-q", "--format", "json", *files).stdout, whole)
        tree = self.merge_by_tree(draw, files)
        self.assertEqual(run("merge", "-q", "--format", "json", *tree).stdout, whole)
        for name, some in (("flat", files), ("tree", tree)):
            run("merge", "-q", "--evidence", self.at(name), *some)
        with open(self.at("flat"), "rb") as flat, open(self.at("tree"), "rb") as by_tree:
            self.assertEqual(flat.read(), by_tree.read())

    def write_parts(self, draw, traces, count):
        """Each trace, a text of lines, into one of some files."""
        parts = [[] for _ in range(count)]
        for trace in traces:
            draw.choice(parts).append(trace)
        paths = []
        for i, part in enumerate(parts):
            paths.append(self.at("part-%d.json" % i))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.writelines(trace + "\n" for trace in part)
        return paths


class Partitions(Case):
    def check_shape(self, shape, options=(), seeds=SEEDS):
        lines = captures.lines(shape)
        for seed in range(seeds):
            draw = random.Random(seed)
            count = 64 if seed == 3 else (2, 8, 1, 3)[seed % 4]
            with self.subTest(seed=seed, parts=count):
                paths = self.write_parts(draw, lines, count)
                whole = run("replay", "-q", "--format", "json", *options, *paths).stdout
                self.check_merges(draw, self.gather(paths, options), whole)

    def test_requests_of_several_types_and_paths(self):
        self.check_shape(captures.plain)

    def test_paths_whose_variables_no_part_knows(self):
        self.check_shape(captures.paths)

    def test_requests_that_stand_for_many(self):
        self.check_shape(captures.weights)

    def test_more_types_than_rows(self):
        self.check_shape(captures.many_types, ("--rows", "100"))

    def test_more_structures_than_a_level_may_have(self):
        self.check_shape(captures.many_structures)

    def test_shapes_that_have_left_the_cache(self):
        self.check_shape(captures.many_shapes, ("--rows", "100"), seeds=2)


class RealTraces(Case):
    def test_a_captured_workload(self):
        """Requests of OpenStack, as OSProfiler wrote them: in 8 parts, over orders and trees, and in all forms."""
        events = subprocess.run(["zstd", "-dcq", os.path.join(ROOT, "datasets/openstack/contention.jsonl.zst")],
                                capture_output=True, check=True, text=True).stdout.splitlines()
        traces = {}
        for line in events:
            traces.setdefault(json.loads(line)["base_id"], []).append(line)
        paths = self.write_parts(random.Random(1), ["\n".join(lines) for lines in traces.values()], 8)
        whole = run("replay", "-q", "--format", "json", *paths).stdout
        files = self.gather(paths)
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                self.check_merges(random.Random(seed), files, whole)
        for form in (["-f", "text"], ["-f", "text", "--verbose"], ["-f", "markdown"], ["-f", "html"],
                     ["-f", "json", "--rank-by", "tail", "--seed", "7", "--strategy", "flat", "--points", "9"]):
            self.assertEqual(run("merge", "-q", *form, *files).stdout, run("replay", "-q", *form, *paths).stdout)

    def test_formats_with_their_losses_and_repairs(self):
        """Files of all formats that have no trace in common: what was repaired and dropped, and what tracing costs."""
        paths, traces = [], 0

        def count(some):
            done = run("replay", "-q", "-f", "json", *some, ok=(0, 1, 3, 4))
            return json.loads(done.stdout)["input"]["traces"] if done.stdout else 0

        for path in sorted(glob.glob(os.path.join(ROOT, "tests/corpus/*/valid/*/input*"))):
            own = count([path])
            if own and count(paths + [path]) == traces + own:
                paths.append(path)
                traces += own
        self.assertGreater(len({path.split("/corpus/")[1].split("/")[0] for path in paths}), 6)
        whole = run("replay", "-q", "-f", "json", *paths, ok=(0, 1, 3, 4)).stdout
        files = self.gather(paths)
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                self.check_merges(random.Random(seed), files, whole)


class Streams(Case):
    def test_paths_of_a_stream_get_their_types_when_it_is_merged(self):
        """A stream is read once, so that requests before the last variable was found keep other types."""
        lines = captures.lines(captures.paths)
        files = []
        for i in range(2):
            files.append(self.at("%d.evidence" % i))
            text = "\n".join(lines[i::2]) + "\n"
            done = subprocess.run([PYTHIA, "replay", "-q", "--evidence", "-", "-"], input=text.encode(),
                                  capture_output=True, check=True)
            with open(files[-1], "wb") as file:
                file.write(done.stdout)
        paths = self.write_parts(random.Random(1), lines, 2)
        reports = [json.loads(run(*words, "-q", "-f", "json").stdout) for words in
                   (["merge", *files], ["replay", *paths])]
        for report in reports:
            del report["input"]
        self.assertEqual(*reports)


class Refusals(Case):
    def setUp(self):
        super().setUp()
        self.paths = self.write_parts(random.Random(1), captures.lines(captures.plain), 2)
        self.files = self.gather(self.paths)

    def assert_refused(self, status, says, *words):
        done = run(*words, ok=(status,))
        self.assertEqual(done.stdout, b"")
        self.assertIn(says, done.stderr.decode())

    def test_options_that_evidence_does_not_know(self):
        for option in (["--closed-loop"], ["--split", "size"], ["--open", "skeleton"], ["--space", "none"], ["--skew"],
                       ["--format", "json"], ["--verbose"], ["--output", "report"], ["--all"], ["--history", "h"],
                       ["--trace-url", "http://here/{trace_id}"]):
            self.assert_refused(2, "%s cannot be used with --evidence" % option[0],
                                "replay", "--evidence", self.at("none"), *option, self.paths[0])
        self.assertFalse(os.path.exists(self.at("none")))

    def test_files_that_are_no_evidence(self):
        with open(self.files[0], "rb") as file:
            cut = file.read()[:-9]
        for content, status, says in ((b"", 1, "is not evidence"), (b"{}", 1, "is not evidence"),
                                      (b"pythia evidence 1\n", 2, "evidence of version 1"),
                                      (cut, 1, "end prematurely")):
            with open(self.at("bad"), "wb") as file:
                file.write(content)
            self.assert_refused(status, self.at("bad"), "merge", self.files[1], self.at("bad"))
            self.assert_refused(status, says, "merge", self.at("bad"))
        self.assert_refused(1, "missing", "merge", self.at("missing"))

    def test_a_part_that_is_there_twice(self):
        run("merge", "-q", "--evidence", self.at("both"), *self.files)
        self.assert_refused(2, "give each part once", "merge", self.files[0], self.files[1], self.files[0])
        self.assert_refused(2, "give each part once", "merge", self.at("both"), self.files[1])
        run("replay", "-q", "--evidence", self.at("again"), "--threads", "1", self.paths[0])
        self.assert_refused(2, "give each part once", "merge", self.files[0], self.at("again"))

    def test_parts_that_were_gathered_with_other_options(self):
        for option in (["--rows", "100"], ["--latency", "client"], ["--no-fold"], ["--redact", "user:drop"],
                       ["--request-type-attribute", "user"], ["--leave-out-root", "x"]):
            run("replay", "-q", "--evidence", self.at("other"), *option, self.paths[1])
            self.assert_refused(2, "different options", "merge", self.files[0], self.at("other"))
            self.assertEqual(run("merge", "-q", "--format", "json", self.at("other")).stdout,
                             run("replay", "-q", "--format", "json", *option, self.paths[1]).stdout)

    def test_a_part_without_traces_is_evidence_of_nothing(self):
        open(self.at("empty.json"), "w").close()
        nothing = self.gather([self.at("empty.json")])
        run("merge", *nothing, ok=(4,))


if __name__ == "__main__":
    unittest.main()
