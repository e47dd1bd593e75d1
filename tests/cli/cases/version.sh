# The version, and the commit where the source is a repository.
pythia --version | sed 's/ (commit [0-9a-f]*)$//'
if [ -e "$ROOT/.git" ] && commit=$(git -C "$ROOT" rev-parse --short=12 HEAD 2>/dev/null); then
    for program in pythia pythiad; do
        $program --version | grep -qF "(commit $commit)" || echo "$program says $($program --version), not the commit $commit"
    done
fi
