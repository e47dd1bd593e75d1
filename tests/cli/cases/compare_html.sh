# The page says what the text says, in one file that loads nothing.
awk -f $DATA/compare.awk > before.jsonl
awk -v after=1 -f $DATA/compare.awk > after.jsonl
pythia compare -q --format html --output page.html before.jsonl after.jsonl
python3 - << 'END'
import xml.dom.minidom
page = xml.dom.minidom.parse("page.html")
text = lambda e: e.data if e.nodeType == e.TEXT_NODE else "".join(map(text, e.childNodes))
for name in ("h1", "p", "h2", "li", "tr"):
    for element in page.getElementsByTagName(name)[:7]:
        print(name + ":", " | ".join(filter(None, map(text, element.childNodes))).strip())
END
grep -cE '(src|href)=' page.html || true
# On a telephone columns become lines, and each cell says which column it was.
grep -o '<table class="[a-z]*">\|data-l="[a-z ]*"' page.html | sort | uniq -c
grep -o "stack td{[^}]*overflow-wrap:anywhere" page.html | wc -l
