#!/usr/bin/env python3
"""The report of merged evidence is the report of a replay of everything, byte for byte: over partitions, orders and
trees of merges. usage: test_merge.py PYTHIA [TEST...]"""
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


class Partitions(unittest.TestCase):
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

    def check(self, draw, paths, options=(), report=()):
        """The parts in `paths`, merged flat and by a tree, against a replay of all of them."""
        whole = run("replay", "-q", "--format", "json", *options, *report, *paths).stdout
        files = self.gather(paths, options)
        draw.shuffle(files)
        self.assertEqual(run("merge", "-q", "--format", "json", *report, *files).stdout, whole)
        tree = self.merge_by_tree(draw, files)
        self.assertEqual(run("merge", "-q", "--format", "json", *report, *tree).stdout, whole)
        for name, some in (("flat", files), ("tree", tree)):
            run("merge", "-q", "--evidence", self.at(name), *some)
        with open(self.at("flat"), "rb") as flat, open(self.at("tree"), "rb") as by_tree:
            self.assertEqual(flat.read(), by_tree.read())

    def write_parts(self, draw, lines, count):
        parts = [[] for _ in range(count)]
        for line in lines:
            draw.choice(parts).append(line)
        paths = []
        for i, part in enumerate(parts):
            paths.append(self.at("part-%d.json" % i))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in part)
        return paths

    def check_shape(self, shape, options=(), seeds=SEEDS):
        lines = captures.lines(shape)
        for seed in range(seeds):
            draw = random.Random(seed)
            count = 64 if seed == 3 else (2, 8, 1, 3)[seed % 4]
            with self.subTest(seed=seed, parts=count):
                self.check(draw, self.write_parts(draw, lines, count), options)

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


if __name__ == "__main__":
    unittest.main()
