# Every page is good scdoc, and names each option of its command.
for c in '' replay compare 'space build' 'space show' tree profile export generate evaluate; do
    pythia help --scdoc $c > page.scd && scdoc < page.scd > page.1 || exit 1
    [ -z "$c" ] || for o in $(pythia help $c | grep -oE '^  (    |-., )--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -v -- --help); do
        sed 's/\\//g' page.1 | grep -q -- "$o" || { echo "$c: $o is not in the manual"; exit 1; }
    done
done
pythia help --scdoc replay | scdoc | head -1 | cut -c1-20
