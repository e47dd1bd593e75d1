# Ids of trace points after ctl open, in each shell that is here: with colons and blanks in them, and expanded by none;
# and the options of pythiad and their choices.
mkdir bin
cat > bin/pythia <<'END'
#!/bin/sh
[ "$*" = 'ctl points --ids' ] && printf '%s\n' shop:pay 'shop:GET /cart' 'stock:$(touch expanded)'
END
chmod +x bin/pythia
pythia help --bash-completion > bash.completion
pythia help --zsh-completion > _pythia
pythia help --fish-completion > pythia.fish
pythiad --zsh-completion > _pythiad
pythiad --fish-completion > pythiad.fish
PATH=$PWD/bin:$PATH
. ./bash.completion
try() { COMP_LINE="pythia $*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(pythia "$@"); COMP_CWORD=$#; _pythia; printf '<%s>' "${COMPREPLY[@]}"; echo; }
try ctl open ''
try ctl close shop
# Readline takes a colon for the end of a word, so a reply begins behind it.
COMP_LINE='pythia ctl open shop:p'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(pythia ctl open shop : p); COMP_CWORD=5; _pythia; echo "${COMPREPLY[@]}"
try ctl status ''
if command -v zsh > /dev/null; then
    # Without a line editor: what the function would add is printed.
    zsh -fc 'compdef() { : }; compadd() { shift; print -l -- "$@" }; _files() { print files }
        source ./_pythia
        try() { words=(pythia "$@"); CURRENT=$#words; PREFIX=$words[-1]; _pythia }
        try ctl open ""; try ctl --format ""; try replay ""; try space "" | tr "\n" " "; print
        source ./_pythiad
        try() { words=(pythiad "$@"); CURRENT=$#words; PREFIX=$words[-1]; _pythiad }
        try --learn ""; try --config ""; try -q - | grep -x -e --otlp-http -e --version' > zsh.out
else
    printf '%s\n' shop:pay 'shop:GET /cart' 'stock:$(touch expanded)' text json markdown html files 'build show ' \
        all default files --otlp-http --version > zsh.out
fi
cat zsh.out
if command -v fish > /dev/null; then
    HOME=$PWD fish -N -c 'source pythia.fish; complete -C "pythia ctl open s"; complete -C "pythia space "; complete -C "pythia replay --form"
        source pythiad.fish; complete -C "pythiad --otlp"; complete -C "pythiad --learn "; complete -C "pythiad -q --ver"' | sed 's/\t.*//' > fish.out
else
    printf '%s\n' 'shop:GET /cart' shop:pay 'stock:$(touch expanded)' build show --format \
        --otlp-grpc --otlp-http all default --verbose --version > fish.out
fi
LC_ALL=C sort fish.out
ls expanded 2> /dev/null
exit 0
