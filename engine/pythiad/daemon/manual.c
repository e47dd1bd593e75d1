#include "manual.h"

#include <string.h>

#include "listen/access.h"
#include "pythia/redaction.h"
#include "shared/settings.h"

static const char before[] =
    "pythiad(8)\n\n"
    "# NAME\n\n"
    "pythiad - open the few trace points that show why like requests differ\n\n"
    "# SYNOPSIS\n\n"
    "*pythiad* [_OPTION_...]\n\n"
    "# DESCRIPTION\n\n"
    "*pythiad* stays attached to a stream of traces. It groups the requests that should behave "
    "alike, and where they do not, it finds the edge of the critical path that varies, opens the "
    "trace points that would tell more, closes those that told nothing, and names the key-value "
    "that goes with the variation. Nearly all trace points stay closed.\n\n"
    "Without any setting it listens on this machine alone, for OTLP over gRPC and HTTP, and for "
    "Zipkin, has a page at http://127.0.0.1:4319/, and keeps what it knows in memory.\n\n"
    "At first it learns which trace points there are in requests of each type: for the first "
    "requests of a type all are open (*--learn*). Then it searches, in cycles: with the skeleton "
    "open, which is what has to be open for the duration of requests to be seen at all. A trace "
    "point is opened for the request type whose latency it may explain, and for no other: requests "
    "of other types give no spans of it and cost no more than before, where a program can tell "
    "types apart (the planes gate, http and osprofiler); elsewhere it is open for all, and what "
    "comes of other types is left out. Where two types need one point it is open for both. A "
    "point that gives no span of requests of its types is opened for all before it is closed, in "
    "case the program takes them for others, or names them too late. A target "
    "that cannot switch its trace points is looked at as if it could: the same report, but nothing "
    "is saved.\n\n"
    "A process that joins costs a cycle no more than the requests that are under way until it has "
    "what is open. When a target loses what it had, because it has begun anew under its name, its "
    "lease has run out, or its plane fails or comes back, the cycle begins anew: what was gathered "
    "of it is kept apart, and counted.\n\n"
    "A request type that turns up later is learnt with what is open then: what is open by default, "
    "and from programs that cannot tell types apart what is open for others. With "
    "*--learn-hourly*=_N_ it is learnt in the same way as the first ones, "
    "_N_ times in an hour at most: when some requests of it have come, closed trace points are "
    "opened until *--learn-requests* of them have been seen, or for *--cycle-seconds*; for "
    "requests "
    "of that type alone, where a plane can tell types apart, else for all, and then what is seen "
    "of other types does not change by it. What is dropped for its cost (*--max-overhead-pct*) or "
    "pinned shut stays closed. With *--points-open* the closed points are tried so many at a time, "
    "and of those that the type passes so many are opened; the log says if that left some out. Up "
    "to 32 new types are learnt at once; others wait, and the log and the report say how many. "
    "With *--learn*=default or *--points*=0 nothing is opened.\n\n"
    "Trace points that turn up later in requests of a type that was learnt before, because a "
    "program is a newer one, are not in the search space: nobody decides about them, and their "
    "spans are left out of what is searched. The log, *pythia ctl status*, the report and /metrics "
    "say how many there are, unless they are pinned shut. To have them searched, have the space "
    "learnt anew: end *pythiad*, remove the files of *--space* and *--state*, and start it "
    "again.\n\n"
    "Settings come from a YAML file (_NAME_: _VALUE_), from the environment (_PYTHIAD\\_NAME_, in "
    "capitals and with \\_ for -), and from the command line, the later ones over the earlier: "
    "*otlp-http: off*, *PYTHIAD\\_OTLP\\_HTTP=off* and *--otlp-http off* are the same. A flag is "
    "true or false in the first two. What may be given several times is a list in the file, "
    "*[a, b]*, and has commas between in the environment, which takes the place of the file's; the "
    "command line adds to it. A name that is no option's is an error.\n\n"
    "# OPTIONS\n\n";

static const char taking[] =
    "\n*-h*, *--help*\n\tThis help.\n\n*-V*, *--version*\n\tThe version.\n\n"
    "# WHAT IT TAKES\n\n"
    "*OTLP*\n\tgRPC, and POST /v1/traces with protobuf or JSON; packed by gzip or Zstandard.\n\n"
    "*Zipkin*\n\tPOST /api/v2/spans, JSON.\n\n"
    "*OSProfiler*\n\tFrom Redis, in all layouts of its drivers (*--osprofiler*). Events are taken "
    "out of it.\n\n"
    "*libpythia-tracepoints*\n\tFrom the rings of all programs of its user (*--gate*), or over a "
    "socket (*--records*).\n\n"
    "*Series*\n\tOf collectors, or in the same CSV (Timepoint,Measurement,Label,PID), from a "
    "folder (*--collect*). A file is read when it is complete, its name ends in .csv, or when its "
    "writer was killed; then it is removed. Requests are finished later then, so that all is there "
    "that was measured before they began. Variables of libpythia-tracepoints are joined in any "
    "case.\n\n"
    "*Files*\n\tThat grow, in any format that *pythia replay* reads (*--follow*).\n\n"
    "A sender is told to come again only where that can help: not if a body is too large or "
    "broken.\n\n"
    "Of a body with more than 100000 broken records nothing is taken; one that expands as only a "
    "bomb does is unpacked to its end before it is looked at.\n\n"
    "A connection is closed after 10 s without a whole header, 30 s without a whole body, and 60 s "
    "(gRPC: 300 s) without a request. When there are *--connections* of them, a new one takes the "
    "place of the one that has been idle or incomplete for longest, of those that were never "
    "answered if these are many; one whose body comes, or whose answer is being worked out, "
    "stays. Programs that send records (*--records*) stay as well: one more is sent away, and "
    "counted.\n\n"
    "# CIRCUIT BREAKER\n\n"
    "A trace point that costs one program more than *--breaker-ns* in a second is closed within a "
    "second, without waiting for the end of a cycle. The cost is the number of its spans that "
    "ended in one second of the program's clock, as soon as they have arrived, times the price of "
    "a hit, as programs or agents have measured it (_pythia ctl points_); a point whose price is "
    "not measured is never closed for it. The default is 5 % of a processor. The point is closed "
    "in all programs of its service, and nothing opens it for *--breaker-hold-seconds*, unless it "
    "is opened by hand (*pythia ctl open*) or pinned open in the settings; after a restart it is "
    "measured anew. Points that are pinned open stay open, and so do those where requests enter a "
    "program, without which nothing would be seen: then the log says so, once for each. The log "
    "has the point, the program, what it cost and the limit; *pythia ctl decisions* has it too; "
    "/metrics counts it (_pythia\\_breaker\\_trips\\_total_) and lists the points that are closed "
    "for it (_pythia\\_point\\_dropped_ with reason=\"breaker\").\n\n";

static const char limits[] =
    "# LIMITS\n\n"
    "Headers are limited to 16 KiB as HTTP/2 counts them (HTTP/1.1: 32 KiB). A call whose headers "
    "are more is refused with RESOURCE\\_EXHAUSTED; a connection that sends another such list, or "
    "one of more than 64 KiB, ends with GOAWAY ENHANCE\\_YOUR\\_CALM. In one turn of the event "
    "loop a connection may take 64 KiB, and all connections of gRPC 2 ms: the others wait for "
    "their "
    "turn (_pythia\\_reads\\_deferred\\_total_), so that no flood stops /healthz. A refused call "
    "is reset once it is answered, and nothing more of it is read.\n\n"
    "HTTP is read as RFC 9112 has it: a request with two lengths, with a length and chunks, with a "
    "blank before a header's colon, without exactly one Host, or with an escaped NUL is refused "
    "(400), a coding other than chunked too (501), and its connection closed. A request that a "
    "page of another site could have sent, by its Origin, or, where only this machine reaches the "
    "listener, by a Host that is not localhost or an address of the loopback, is refused (403) on "
    "every listener.\n\n"
    "What senders may do is limited by *--body-max*, *--inflated-max*, *--attributes-max*, "
    "*--value-max*, *--events-max*, *--links-max*, *--request-spans-max*, *--connections* and "
    "*--streams*. Those of spans hold for every source. *--check-config* tells them all, and what "
    "is in force is told by *pythia ctl status* and by /metrics (_pythia\\_limit_). What was left "
    "out because of one is counted there by reason, and in the report.\n\n"
    "A text of more than *--value-max* bytes still differs from all others, by its hash; nothing "
    "longer than 240 bytes is compared or shown. At 100 000 "
    "spans a second with a value of 1 KiB each, 160 bytes of it take 93 MiB in all and every span "
    "is taken; with *--value-max=4K* it is 189 MiB, and four senders in ten are told to come "
    "again, "
    "because unfinished requests fill *--memory*. An event, or an annotation of Zipkin, is a "
    "key-value "
    "_event.NAME_ that is true, and what it says are key-values below it. Nothing is made of links "
    "but that Jaeger's references tell a span's parent.\n\n";

static const char redacting[] =
    "# REDACTION\n\n"
    "What senders put into key-values may be a secret, or about a person. Before a value gets "
    "anywhere else, be it memory of requests, the state, a report, a page, a metric, the log or a "
    "recording, it goes through rules: *--redact* _PATTERN_:_ACTION_, in YAML a list of "
    "_PATTERN_: _ACTION_. The pattern is of the key, in capitals or not, with \\* for any text and "
    "? "
    "for any character; what an event says has keys _event.NAME.KEY_, and members of a list are "
    "below "
    "its key. The first rule that fits holds:\n\n"
    "*keep*\n\tThe value stays as it is.\n\n"
    "*url*\n\tOf an address scheme, host and path stay; user info, the query, the fragment and "
    "parameters of the path are left out.\n\n"
    "*hash*\n\tA hash takes its place, like hash:1f3a7c0de41b52a9. Equal values have equal hashes, "
    "also after a restart, so that they explain as well as before; what they were cannot be looked "
    "up without the secret (*--redact-secret*), a file for the user of *pythiad* alone. Who knows "
    "a "
    "value can recognize it: *pythia ctl hash* _VALUE_ prints its hash.\n\n"
    "*drop*\n\tThe key-value is left out, and counted.\n\n"
    "Behind the rules of the settings stand the default rules, unless one of the texts is *off*: "
    "then the list ends there. *--redact=off* alone keeps everything. Rules on the command line "
    "stand "
    "behind those of the file. A key that is longer than is kept is judged by all of it, and one "
    "that "
    "there is no room to know is hashed. Names are no values: those of services, trace points, "
    "hosts "
    "and events are kept, and what a source makes a name of is not hidden by a rule; but resource "
    "attributes such as host.name are, and then the host is called by its hash.\n\n"
    "*--record* keeps the spans of what came in, not its bytes, as long as there are rules: what "
    "could not be read is not in it. *pythia replay* reads it as it reads "
    "others, and has the same options, with no rules unless they are given "
    "(*--redact=default*).\n\n"
    "Of the values that are left, a report names *--report-values* of a key at most. Of more "
    "request "
    "types than *--report-types* it lists all, and looks closely at so many: those with a cause, "
    "then those with the most variance. How much was "
    "hashed and dropped is in the report (_hashed\\_values_, _redacted_) and in /metrics. The "
    "default "
    "rules, in their order:\n\n[[ *Key*\n:- *Value is*\n";

static const char after[] =
    "# WHOM IT SWITCHES\n\n"
    "*Programs with OpenTelemetry in Node.js, Python and Go*\n\tBy pythia-gate.js, pythia_gate and "
    "pythia-go, see *pythia-control-http*(7).\n\n"
    "*Services with OSProfiler*\n\tBy Redis, see *pythia-control-osprofiler*(7).\n\n"
    "*Programs with libpythia-tracepoints*\n\tBy their switchboard (*--gate*).\n\n"
    "Whom it switched goes back to its own set once it has not heard of *pythiad* for "
    "*--lease-seconds*.\n\n"
    "# CONTROL\n\n"
    "*pythia ctl* talks to it. The same interface has pages for a browser: / for what it "
    "does, what it found and which trace points are open for that, and /report for the last cycle, "
    "or, before one has ended, what has arrived so far. "
    "The page / stays current: every 10 s its script, /page.js, changes what differs, while "
    "open details, the focus and the scroll position stay; without scripts the page is reloaded. "
    "It "
    "says so when *pythiad* does not answer. There are "
    "further /metrics for Prometheus, /healthz and /readyz.\n\n"
    "# STARTING AGAIN\n\n"
    "With *--state* it goes on where it stood, also after an end without warning: the trace points "
    "that were wanted open are wanted again at once, under a version that goes on rising; pins, "
    "*pythia ctl off*, the search space (unless *--space* names a file that is there) and what "
    "earlier searches taught are kept. What requests told is learnt anew: the search looks at the "
    "next cycle with the points that are open, and closes what it does not need any more. To begin "
    "anew, end it and remove that file.\n\n"
    "The file has one *pythiad* at a time: a second one ends, and names the pid of the first. A "
    "file that is no database, or a database of another program, is refused and stays as it is; "
    "one that is damaged, or gone while its log _FILE_-wal is there, becomes _FILE_.broken "
    "(_FILE_.broken-2 if there is one, and so on), as the log says, and a new one is begun: set "
    "the pins again, or end *pythiad* and put a copy of the file there. The file of an earlier "
    "release is brought up to date. That of a later one is read, pins and what was wanted open "
    "with it, and nothing is written to it: the log says so, /readyz answers _degraded_, a "
    "change is in force until the next start only, and the later release finds all as it left "
    "it. It is made for the user of *pythiad* alone; if others may read it, or a file with a "
    "token or a key, the log says so at the start.\n\n"
    "# SIGNALS\n\n"
    "*SIGHUP*\n\tRead the settings again. Pins (*--always*, *--never*), *--max-overhead-pct*, "
    "*--breaker-ns*, *--quiet* and *--verbose* change at once; of all else that is different the "
    "log says that it "
    "takes a restart. Settings with an error change nothing.\n\n"
    "*SIGTERM*, *SIGINT*\n\tTake in what has come, end the cycle, and end.\n\n"
    "# EXIT STATUS\n\n"
    "0 done, 1 failed, 2 wrong usage (also: wrong settings).\n\n"
    "# FILES\n\n"
    "*" PYTHIA_SETTINGS_FOLDER "/pythiad.yaml*\n\tThe settings of the service for systemd.\n\n"
    "*/run/pythiad/control.sock*\n\tWhere *pythia ctl* looks first.\n\n"
    "*/var/lib/pythiad/state.db.secret*\n\tOf the service for systemd: the secret of its "
    "hashes.\n\n"
    "*/run/pythia/off*\n\tWhile it is there, agents close everything.\n\n"
    "# EXAMPLES\n\n"
    "Attach it to a program with OpenTelemetry in Node.js:\n\n"
    "```\n$ pythiad &\n"
    "$ node --require " PYTHIA_DATA_FOLDER "/node/pythia-gate.js --require ./tracing.js app.js &\n"
    "$ pythia ctl report\n```\n\n"
    "Look, and switch nothing:\n\n"
    "```\n$ pythiad --observe-only\n```\n\n"
    "# SEE ALSO\n\n"
    "*pythia*(1), *pythia-ctl*(1), *pythia-control-http*(7), *pythia-control-osprofiler*(7), "
    "*libpythia-tracepoints*(3), *pythia-report*(5)\n";

/* A row of the table: what is done to a value whose key fits. */
static void write_rule(const char *rule, struct pythia_buf *to)
{
    static const char *const words[][2] = {{"keep", "kept"},
                                           {"url", "kept without user info, query and fragment"},
                                           {"hash", "hashed"},
                                           {"drop", "left out"}};
    const char *colon = strrchr(rule, ':');
    pythia_buf_puts(to, "|  ");
    for (const char *at = rule; at < colon; at++)
        pythia_buf_printf(to, "%s%c", strchr("*_", *at) ? "\\" : "", *at);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(colon + 2, words[i][0]) == 0)
            pythia_buf_printf(to, "\n:- %s\n", words[i][1]);
}

void pythia__manual_write(struct pythia_buf *to)
{
    pythia_buf_puts(to, before);
    pythia_options_scdoc(pythia__settings_table, to);
    pythia_buf_puts(to, taking);
    pythia_buf_puts(to, limits);
    pythia__access_manual(to);
    pythia_buf_puts(to, redacting);
    for (const char *const *rule = pythia_redaction_defaults(); *rule; rule++)
        write_rule(*rule, to);
    pythia_buf_putc(to, '\n');
    pythia_buf_puts(to, after);
}

void pythia__completion_write(struct pythia_buf *to)
{
    pythia_buf_puts(to, "# bash completion of pythiad, made of its table of settings\n"
                        "_pythiad()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} "
                        "prev=${COMP_WORDS[COMP_CWORD-1]} words=\n    COMPREPLY=()\n");
    pythia_options_completion(pythia__settings_table, to);
    pythia_buf_puts(to, "    if [[ $cur == -* ]]; then\n"
                        "        COMPREPLY=($(compgen -W \"$words --version\" -- \"$cur\"))\n"
                        "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
                        "complete -o filenames -F _pythiad pythiad\n");
}
