#!/usr/bin/env python3
"""The slope by which the soak judges, on series whose slope is known. usage: test_slope.py"""
import math
import random
import sys
import unittest

import slope


class Slope(unittest.TestCase):
    def test_by_hand(self):
        """Slopes of the six pairs: 1, 1, 2, 1, 2.5, 4; S of 4 points has the variance 4 * 3 * 13 / 18 = 8.67, and 6 - 1.96 *
        2.94 = .23 pairs, halved and rounded down, is the first of them."""
        found = slope.theil_sen([(0, 0), (1, 1), (2, 2), (3, 6)])
        self.assertEqual(found, (1.5, 1, 4))

    def test_what_stays_has_slope_0(self):
        self.assertEqual(slope.theil_sen([(x, 7) for x in range(10)]), (0, 0, 0))

    def test_below_three_points_there_is_none(self):
        self.assertTrue(all(math.isnan(number) for number in slope.theil_sen([(0, 1), (1, 2)])))

    def test_a_spike_does_not_count(self):
        points = [(x, 2 * x + 1000 * (x == 15)) for x in range(30)]
        self.assertEqual(slope.theil_sen(points)[0], 2)

    def test_the_interval_covers(self):
        """The interval of 95 % covers the slope in 95 % of 1000 series: below 93 %, by chance, in .2 % of seeds."""
        draw = random.Random(1)
        inside = 0
        for _ in range(1000):
            _, low, high = slope.theil_sen([(x, .5 * x + draw.gauss(0, 3)) for x in range(15)])
            inside += low <= .5 <= high
        self.assertGreater(inside, 930)

    def test_blocks_give_medians(self):
        samples = [(0, 1), (1, 9), (2, 2), (3, 5), (4, 5), (6, 8)]
        self.assertEqual(slope.blocks(samples, 2), [(1.5, 2), (4.5, 5)])


class Segments(unittest.TestCase):
    TABLE = """\
       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime        rss       swap
         0          1   600              19399168    10    11      0     0     0     0     0         50          0         50       4096          0
         0          2   600            4389000000    10    11      2     0     0     0     0        150        150        100      45056          0
         0          3   600              19399168    10    11      0     0     0     0     0        290          0        290       8192          0
         0          4   600              19399168    12    12      1     0     0     0     0        120          0        120       8192          0
""".splitlines()

    def test_a_pid_that_comes_again_is_somebody_else(self):
        self.assertEqual(slope.segments(self.TABLE, {10: (100, 200), 13: (100, 200)}), {2: (45056, 10)})

    def test_a_process_that_lives_has_no_end(self):
        self.assertEqual(slope.segments(self.TABLE, {12: (100, math.inf)}), {4: (8192, 12)})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
