# Which strategies and problems there are; of a list, those in it.
pythia evaluate --list
pythia evaluate --list --strategy binary,flat --problem null,deep --output some.txt
cat some.txt
