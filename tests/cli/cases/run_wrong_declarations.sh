# Everything that is wrong is told, with file and line, and nothing is started.
cat > points.json <<'END'
[
  {"name": "a b", "function": "f"},
  {"name": "no_function"},
  {"function": "no_name"},

  {"name": "keys", "function": "g", "keys": ["arg99:i64"]},
  {"name": "types", "function": "g", "keys": ["arg0:i65"]},
  {"name": "mixed", "function": "g", "keys": ["arg0:f64"]},
  {"name": "twice", "function": "h"}, {"name": "twice",
    "function": "i"},
  {"name": "again", "function": "h"},
  {"name": "unknown", "function": "j", "keyz": []},
  {"name": "jump", "function": "setjmp"},
  {"name": "fails", "function": "k", "error": "sometimes"},
  {"name": "own point", "function": "", "keys": ["ret"]},
  {"name": "request", "function": "l", "request": "ret"},
  {"name": 3, "function": "m"},
  {"name": "enabled", "function": "n", "enabled": "yes"},
  {"name": "placed", "function": "q", "enabled": "db-*/store/4711"},
  {"name": "no_colon", "function": "o", "callback": "notes.so"},
  {"name": "no_file", "function": "p", "callback": "nowhere/notes.so:note"},
  {"name": "own call", "function": "", "callback": "notes:note"}
]
END
pythia run --points points.json -- touch started
echo "status $?"
printf '# fine\n"libc.so","","f","f"\n"libc.so","f","f"\n"a"b,,,c\n,,g,f\n' > points.csv
pythia run --points points.csv -- touch started
echo "status $?"
printf '[{"name": "f"\n "function": "g"}]' > syntax.json
pythia run --points syntax.json -- touch started
echo "status $?"
printf '{"name": "f"}' > object.json
pythia run --points object.json -- touch started
echo "status $?"
pythia run --points nowhere.json -- touch started
echo "status $?"
pythia run --points object.json
echo "status $?"
printf '[{"name": "f", "function": "g_of_nobody"}]' > nobody.json
pythia run --points nobody.json -- touch started 2>err
echo "status $?"
sed 's,/[^ ]*/touch,touch,' err >&2
ls started 2>/dev/null
