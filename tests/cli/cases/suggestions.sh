# A misspelt command, option or action is told with the one that was meant; what is far from all is not. --help is no error.
for words in 'replya x' 'spcae build' 'boldest' 'replay --opne x y' 'replay --nothing-like-it x' 'ctl poinst' 'ctl nonsense' 'space' 'ctl'; do
    pythia $words; echo "$words: $?"
done
pythia space --help; echo $?
pythia help space; echo $?
# Of each command that pythia --help lists, and of the families of commands with two words.
pythia --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\( [a-z]*\)*\)  .*/\1/p' | sed 's/ *$//' > commands
sed -n 's/ .*//p' commands | sort -u > families
while IFS= read -r command; do
    pythia $command --help > help; a=$?; pythia $command -h --nonsense | cmp - help; echo "$command: $a $?"
done < <(cat commands families)
pythiad --help > help; echo "pythiad: $?"
