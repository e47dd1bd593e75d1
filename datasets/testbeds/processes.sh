# Processes that a testbed starts by itself, as nothing else does on a machine without an init:
# sourced by up and down. $run keeps a file NAME.pid for each, $logs its output in NAME.log. A pid
# counts only with the time its process was started at, so that one that the system has given to
# another process since is never signalled.

started_at() { # PID: clock ticks since boot; nothing if there is no such process
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # shellcheck disable=SC2086 # fields behind the name, which may have blanks itself
    set -- ${stat##*) }
    [ "$1" != Z ] || return 1
    echo "${20}"
}

pid_of() { # NAME: its pid, if it runs
    local pid ticks
    read -r pid ticks 2>/dev/null <"$run/$1.pid" || return 1
    [ "$(started_at "$pid")" = "$ticks" ] || return 1
    echo "$pid"
}

# Unless it runs; the process leads a session, so that what it starts can be ended with it.
start() { # NAME COMMAND...
    local name=$1 pid
    shift
    ! pid_of "$name" >/dev/null || return 0
    # 9 is the lock that up and down hold; who keeps it would keep them waiting for ever
    setsid nohup "$@" >>"$logs/$name.log" 2>&1 </dev/null 9>&- &
    pid=$!
    disown "$pid"
    echo "$pid $(started_at "$pid")" >"$run/$name.pid"
}

stop() { # NAME [SECONDS]: SIGTERM, and after so long SIGKILL, to it and to what it has started
    local pid deadline=$((SECONDS + ${2:-10}))
    if pid=$(pid_of "$1"); then
        kill -TERM "$pid" 2>/dev/null || true
        while pid_of "$1" >/dev/null && [ "$SECONDS" -lt "$deadline" ]; do sleep .1; done
        kill -KILL -- "-$pid" 2>/dev/null || true
    fi
    rm -f "$run/$1.pid"
}

await() { # SECONDS WHAT COMMAND...: until the command succeeds
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$deadline" ]; then
            echo "$what did not come up: see $logs" >&2
            return 1
        fi
        sleep .1
    done
}

answers() { # PORT: does anybody listen?
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}
