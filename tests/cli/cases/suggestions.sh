# A misspelt command, option or action is told with the one that was meant; what is far from all is not. --help is no error.
for words in 'replya x' 'spcae build' 'boldest' 'replay --opne x y' 'replay --nothing-like-it x' 'ctl poinst' 'ctl nonsense' 'space' 'ctl'; do
    pythia $words; echo "$words: $?"
done
pythia space --help; echo $?
pythia help space; echo $?
for command in replay compare space 'space build' 'space show' tree profile series export run generate evaluate ctl; do
    pythia $command --help > help; a=$?; pythia $command -h --nonsense | cmp - help; echo "$command: $a $?"
done
pythiad --help > help; echo "pythiad: $?"
