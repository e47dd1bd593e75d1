# Every page is good scdoc. It names each option of its command, and no other but those of commands that it speaks of.
options() { grep -oE '^  (    |-., )--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }
named() { sed 's/\\//g' "$1" | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
check() { # PAGE OWN: the page's options against its own, and those of others that it names
    comm -23 "$2" <(named "$1") | sed "s/^/$1: is not in the manual: /"
    cp "$2" known
    grep -oE '\bpythia (space [a-z]+|runs [a-z]+|[a-z]+)' "$1" | sort -u | while read -r _ words; do
        [ ! -e "options of $words" ] || cat "options of $words"
    done >> known
    [ "$1" = page8 ] || ! grep -q pythiad "$1" || cat 'options of pythiad' >> known
    comm -13 <(sort -u known) <(named "$1") | sed "s/^/$1: there is no such option: /"
}

# In an example scdoc takes a single backslash away.
literals() { awk -v page="$1" '/^```/ { inside = !inside } inside { gsub(/\\\\/, ""); if (/\\/) print page ": a single backslash: " $0 }' "$1"; }

pythia --help | sed -n '/^Commands$/,/^$/p' | grep '^  ' | cut -c3-16 | sed 's/ *$//' > commands
wc -l < commands
while read -r c; do pythia help $c | options > "options of $c"; done < commands
pythiad --help | options > 'options of pythiad'
pythia help --scdoc > page; pythiad --scdoc > whole8; literals whole8
sed '/^\$ node --require/,/app.js/d' whole8 > page8
scdoc < page | head -1 | cut -c1-20
scdoc < page8 > page.8
check page8 'options of pythiad'
for file in page page8; do grep -qx '# EXAMPLES' $file || echo "$file has no examples"; done
while read -r c; do
    name=pythia-${c// /-}
    pythia help --scdoc $c > "$name"
    literals "$name"
    scdoc < "$name" > page.1 || echo "$name: is no page"
    check "$name" "options of $c"
    grep -qx '# EXAMPLES' "$name" || echo "$name has no examples"
    sed 's/\*//g' page | grep -q "^$name(1)" || echo "pythia(1) does not list $name"
done < commands
# Those that are written by hand.
for file in "$ROOT"/engine/*/*.scd "$ROOT"/adapters/controls/*.scd "$ROOT"/tracepoints/*.scd; do
    name=$(basename "$file")
    case $name in
    pythia-tutorial.*) ;; # one example from beginning to end
    *) grep -qx '# EXAMPLES' "$file" || echo "$name has no examples" ;;
    esac
    scdoc < "$file" > page.of.section || echo "$name: is no page"
    sed 's/\*//g; s/-H .*//; s/\$(pkg-config [^)]*)//; s/node --require.*//; s/--require.*//; s/pythia-java --jar//' "$file" > "$name"
    own=/dev/null
    if [ "$name" = pythia-probe.8.scd ]; then
        type pythia-probe > /dev/null || continue # it is for x86-64 alone
        pythia-probe --help | options | grep -vx -e --help -e --version > 'options of pythia-probe'
        own='options of pythia-probe'
    fi
    check "$name" "$own"
done
