// SPDX-License-Identifier: MIT

// Package agent is what the switches of an OpenTelemetry program in Go share: it asks pythiad over
// HTTP which trace points shall be open (pythia-control-http(7)), and decides for each span that is
// started. It knows the API of OpenTelemetry and no SDK, so that it fits beside a program's own SDK
// (package gate) as well as inside a copy of it (pythia-go).
//
// A point is a name of spans. A closed point makes no span, and what is started below it hangs on
// the nearest open span above. Without an answer for as long as the lease, the default set holds:
// entry points are open, which are spans of servers and consumers, and those without a parent.
//
// Whatever goes wrong here, the program runs on as without it.
package agent

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Version is that of this agent, as it reports it.
const Version = "pythia-gate-go 0.1.0"

const (
	pointsMax  = 5000 // of one service in this process; more run by the default rule
	backoffMax = 2 * time.Second
	serviceMax = 256 // bytes
)

// Agent asks and reports for one service of this process.
type Agent struct {
	service, instance, query, offFile string

	current atomic.Pointer[table] // in force
	closed  price                 // of a pass of a closed point

	mu     sync.Mutex // of what follows
	points map[string]*point
	gates  map[gateKey]*gate
	etag   string // of the list in force
	lease  *time.Timer
	users  int
	stop   chan struct{}

	// The polling goroutine alone uses these.
	client       client
	poll         time.Duration
	leaseFor     time.Duration
	failures     int
	reported     time.Time
	quietUntil   time.Time // the last report was refused
	isUnreported bool      // the list in force has not been confirmed
}

type gateKey struct {
	kind trace.SpanKind
	id   string
}

var (
	agentsMu sync.Mutex
	agents   = map[string]*Agent{}
)

var complaints sync.Map

// complain writes a line about why spans cannot be switched, once.
func complain(why string) {
	if _, isKnown := complaints.LoadOrStore(why, true); !isKnown {
		fmt.Fprintf(os.Stderr, "pythia-gate: spans cannot be switched: %s\n", why)
	}
}

// ServiceOr gives the service of a resource, or what the environment names if that is "".
func ServiceOr(service string) string {
	if service != "" {
		return service
	}
	if service = os.Getenv("OTEL_SERVICE_NAME"); service != "" {
		return service
	}
	for _, pair := range strings.Split(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		if key, value, _ := strings.Cut(pair, "="); strings.TrimSpace(key) == "service.name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// IsOff is true if the environment says that nothing shall be done.
func IsOff() bool { return os.Getenv("PYTHIA_GATE") == "0" }

// For gives the agent of a service on a host, which asks from now on, until Release was called as
// often. nil: there is none, and a line on stderr says why.
func For(service, host string) *Agent {
	if named := os.Getenv("PYTHIA_SERVICE"); named != "" {
		service = named
	}
	service = sound(service)
	if service == "" || len(service) > serviceMax {
		complain("the service has no name, or one of more than 256 bytes; set PYTHIA_SERVICE")
		return nil
	}
	agentsMu.Lock()
	defer agentsMu.Unlock()
	a := agents[service]
	if a == nil {
		var err error
		if a, err = newAgent(service, host); err != nil {
			complain(err.Error())
			return nil
		}
		agents[service] = a
		go a.run()
	}
	a.users++
	return a
}

// Release ends the asking after the last of those who called For. What is open then stays so for
// the rest of the lease.
func (a *Agent) Release() {
	agentsMu.Lock()
	defer agentsMu.Unlock()
	if a.users--; a.users == 0 {
		close(a.stop)
		delete(agents, a.service)
	}
}

func newAgent(service, host string) (*Agent, error) {
	address := os.Getenv("PYTHIA_URL")
	if address == "" {
		address = "http://127.0.0.1:4318"
	}
	base, err := parseURL(address)
	if err != nil {
		return nil, err
	}
	token := []byte{}
	if file := os.Getenv("PYTHIA_TOKEN_FILE"); file != "" {
		if token, err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	offFile, isSet := os.LookupEnv("PYTHIA_OFF_FILE")
	if !isSet {
		offFile = "/run/pythia/off"
	}
	instance := fmt.Sprintf("%s:%d:%08x", hostOr(host), os.Getpid(), rand.Uint32())
	a := &Agent{service: service, instance: instance, offFile: offFile, poll: 250 * time.Millisecond,
		leaseFor: 30 * time.Second, points: map[string]*point{}, gates: map[gateKey]*gate{}, stop: make(chan struct{}),
		client: client{base: base, token: strings.TrimSpace(string(token))},
		query:  "?service=" + url.QueryEscape(service) + "&instance=" + url.QueryEscape(instance)}
	a.query = strings.ReplaceAll(a.query, "+", "%20")
	a.current.Store(defaultTable)
	return a, nil
}

func (a *Agent) table() *table { return a.current.Load() }

// point gives the point of an id; nil: there is no capacity for it, or the id is not sound.
func (a *Agent) point(id string) *point {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pointLocked(id)
}

func (a *Agent) pointLocked(id string) *point {
	if found := a.points[id]; found != nil || len(a.points) >= pointsMax || !isSound(id) {
		return found
	}
	p := &point{id: id}
	a.points[id] = p
	return p
}

// gate gives the switch of names that differ in nothing but an identifier.
func (a *Agent) gate(kind trace.SpanKind, id string) *gate {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := gateKey{kind, id}
	if found := a.gates[key]; found != nil {
		return found
	}
	g := &gate{point: a.pointLocked(id)}
	if g.point != nil {
		a.gates[key] = g
	}
	return g
}
