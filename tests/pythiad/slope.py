"""Does a series rise? The slope of Theil and Sen with its interval, over medians of blocks of time.

A line through all samples by least squares would follow a single spike of memory, and samples that follow each other are
not independent, which makes an interval too narrow. So each of BLOCKS equal parts of the time gives its median, and the
slope is the median of the slopes between every two of them; its interval comes from the distribution of Kendall's S, with
ties. P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", J. Am. Stat. Assoc. 63, 1968, 1379-1389;
M. Hollander and D. A. Wolfe, "Nonparametric Statistical Methods", 1999, 9.3."""
import collections
import math
import statistics

BLOCKS = 30
Z95 = 1.959963984540054


def blocks(samples, count=BLOCKS):
    """[(middle of the block, median)] of [(time, value)] in order of time; blocks without a sample are left out."""
    begin, end = samples[0][0], samples[-1][0]
    inside = collections.defaultdict(list)
    for at, value in samples:
        inside[min(int((at - begin) / (end - begin) * count), count - 1)].append(value)
    return [(begin + (block + .5) * (end - begin) / count, statistics.median(values)) for block, values in sorted(inside.items())]


def theil_sen(points, z=Z95):
    """(slope, lower, upper end of its interval) of [(x, y)] with x that differ; NaN below 3 points."""
    n = len(points)
    if n < 3:
        return math.nan, math.nan, math.nan
    slopes = sorted((points[j][1] - points[i][1]) / (points[j][0] - points[i][0]) for i in range(n) for j in range(i + 1, n))
    ties = collections.Counter(y for _, y in points).values()
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    reach = z * math.sqrt(variance)
    lower = max(math.floor((len(slopes) - reach) / 2), 0)
    upper = min(math.ceil((len(slopes) + reach) / 2), len(slopes) - 1)
    return statistics.median(slopes), slopes[lower], slopes[upper]


def segments(table, lives):
    """{id: (touched bytes, pid)} of the segments of System V in `table`, lines as /proc/sysvipc/shm has them, that were made by
    the processes of `lives`, {pid: (first second, last)}. A pid comes again after some thousand processes: a segment that was
    made before or after its process lived is somebody else's. The size is no measure: rings reserve gigabytes, and touch few."""
    names, *rows = [line.split() for line in table]
    found = {}
    for row in rows:
        segment = {name: int(text) for name, text in zip(names, row) if name != "perms"}
        begin, end = lives.get(segment["cpid"], (math.inf, 0))
        if begin <= segment["ctime"] <= end:
            found[segment["shmid"]] = segment["rss"], segment["cpid"]
    return found
