echo 'name,duration' > table.csv
echo '{"a": 1}' > other.json
# Of several files and threads the first to fail comes first: with one thread their order is that of the names.
pythia replay --threads 1 table.csv other.json
