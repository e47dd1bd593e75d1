# The same seed, the same bytes; another seed, others; the formats have the same spans.
pythia generate --nodes 60 --requests 40 --forks 0.3 --loops 0.2 --causes contention,host >a
pythia generate --nodes 60 --requests 40 --forks 0.3 --loops 0.2 --causes contention,host --output b
pythia generate --nodes 60 --requests 40 --forks 0.3 --loops 0.2 --causes contention,host --seed 2 --output c
cmp a b && ! cmp -s a c && echo same
sha256sum <a
pythia generate --nodes 60 --requests 40 --forks 0.3 --loops 0.2 --causes contention,host --format otlp-proto | sha256sum
pythia generate --nodes 60 --requests 40 --forks 0.3 --loops 0.2 --causes contention,host --format otlp-proto |
    grep -aoc 'service.name'
