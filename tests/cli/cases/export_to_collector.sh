# Posted to a collector, documents are sent again while it is busy; what it has then is the capture. A refusal ends it.
cat > collector.py <<'P'
import http.server, sys
answers = sys.argv[1].split(",")
got = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = int(answers[min(len(got), len(answers) - 1)])
        got.append((self.path, self.headers["Content-Type"], status))
        if status == 200:
            with open("got.jsonl", "ab") as to:
                to.write(body)
        with open("requests", "a") as to:
            to.write("%s %s %d\n" % got[-1])
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open("port", "w") as to:
    to.write(f"{server.server_port}\n")
server.serve_forever()
P
serve() {
    rm -f port requests
    python3 collector.py "$1" & server=$!
    until [ -s port ]; do read -r -t .02 < /dev/zero; done
}
pythia generate -n 200 -r 100 --seed 1 > generated.jsonl
serve 503,429,200
pythia export -q --to otlp="http://127.0.0.1:$(cat port)/v1/traces" generated.jsonl 2> log; echo "exit $?"
kill $server; wait $server 2> wait.log
sed 's/:[0-9][0-9]*/:PORT/' log; uniq requests
pythia export -q --to otlp generated.jsonl | cmp - got.jsonl && echo "it has all"
serve 400
pythia export -q --to otlp="http://127.0.0.1:$(cat port)/v1/traces" generated.jsonl 2> log; echo "exit $?"
kill $server; wait $server 2> wait.log
sed 's/:[0-9][0-9]*/:PORT/' log; uniq requests
pythia export -q --to otlp=http://127.0.0.1:1/ -o x generated.jsonl; echo "exit $?"
