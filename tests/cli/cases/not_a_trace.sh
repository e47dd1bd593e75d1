echo 'name,duration' > table.csv
echo '{"a": 1}' > other.json
pythia replay table.csv other.json
