# As many fields in each line, and empty what is undefined.
pythia evaluate --strategy all,hierarchical --problem numeric,null --seeds 2 --cycles 2 --format csv > one.csv
cat one.csv
python3 - <<'END'
import csv
rows = list(csv.DictReader(open("one.csv", newline="")))
assert all(None not in row and None not in row.values() for row in rows)
print(len(rows), rows[0]["success_at_1"], repr(rows[3]["success_at_1"]))
END
