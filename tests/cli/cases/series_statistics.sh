# Against numbers that Python's statistics and fractions have computed, not we: within 1e-9.
cat >reference.py <<'END'
import csv, json, statistics, sys
from fractions import Fraction
values, times = [], []
for name in sys.argv[2:]:
    with open(name, newline='') as file:
        for row in list(csv.reader(file, skipinitialspace=True))[1:]:
            if row[2] == '/v2/notify, [POST]':
                values.append(float(row[1]))
                times.append(int(row[0]))
order = sorted(map(Fraction, values))
def quantile(p):
    at = Fraction(p) * (len(order) - 1)
    low = int(at)
    return order[low] + (at - low) * (order[min(low + 1, len(order) - 1)] - order[low])
seconds = max(times) // 10**9 - min(times) // 10**9 + 1
expected = {'count': len(values), 'rate': len(values) / seconds, 'mean': float(sum(order) / len(order)),
            'sd': float(statistics.stdev(order)), 'min': min(values), 'max': max(values),
            'p50': float(quantile('0.5')), 'p90': float(quantile('0.9')), 'p99': float(quantile('0.99'))}
with open(sys.argv[1]) as file:
    ours = next(s for s in json.load(file)['series'] if s['label'] == '/v2/notify, [POST]')
for key, value in expected.items():
    print(key, 'is right' if abs(ours[key] - value) <= 1e-9 * abs(value) else f'{ours[key]} is not {value}')
print('count, rate and span of times are as planted:', ours['count'] == 200, ours['rate'] == 20)
END
pythia series -q -f json -o series.json $DATA/series
python3 reference.py series.json $DATA/series/*.csv
