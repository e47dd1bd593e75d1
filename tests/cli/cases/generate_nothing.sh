# Where nothing is planted nothing is found: also not where time moves, and the total stays.
for causes in none shift compensating; do
    for seed in 1 2 3; do
        pythia generate --nodes 80 --requests 250 --causes $causes --seed $seed | pythia replay --verbose -q - | grep 'Nothing to diagnose'
    done
done
