// SPDX-License-Identifier: MIT

package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// The adapter for OTLP makes the same ids; PYTHIA_VECTORS names the file that both are tested with.
func TestIDsAreThoseOfTheAdapterForOTLP(t *testing.T) {
	name := os.Getenv("PYTHIA_VECTORS")
	if name == "" {
		name = "../../../../../../tests/adapters/data/trace_point_ids.jsonl"
	}
	file, err := os.Open(name)
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); lines++ {
		var v struct{ Service, Scope, Name, ID string }
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if id := pointID(v.Service, v.Scope, v.Name); id != v.ID {
			t.Errorf("%q, not %q", id, v.ID)
		}
	}
	if lines != 37 {
		t.Errorf("%d lines", lines)
	}
	if id := pointID("", "", ""); id != "(unnamed)" {
		t.Error(id)
	}
	if id := pointID("s", "", "a\xffb"); id != "s:a\uFFFDb" {
		t.Error(id)
	}
}

func TestAListSaysWhatIsOpen(t *testing.T) {
	l, err := parseList([]byte(` {"lease_ms":1000,"poll_ms":1,"default":"skeleton","open":["a"],"open_for":{"b":["t"]},` +
		`"closed":["c"],"report":true,"type_key":"tier"}`))
	if err != nil {
		t.Fatal(err)
	}
	if l.lease != time.Second || l.poll != 10*time.Millisecond || !l.report || !l.table.typed || l.table.typeKey != "tier" {
		t.Errorf("%+v", l)
	}
	for id, want := range map[string][2]bool{"a": {true, true}, "b": {true, true}, "c": {false, false}, "d": {false, true}} {
		if l.table.isOpen(id, false) != want[0] || l.table.isOpen(id, true) != want[1] {
			t.Errorf("%s: %v, %v", id, l.table.isOpen(id, false), l.table.isOpen(id, true))
		}
	}
	if l, err = parseList([]byte(`{"default":"none","lease_ms":"x","poll_ms":1e999}`)); err != nil || l.table.isOpen("d", true) ||
		l.lease != 30*time.Second || l.poll != 250*time.Millisecond || l.table.typed {
		t.Errorf("%+v, %v", l, err)
	}
	for _, text := range []string{"", "7", "null", "[", `{"open":7}`, `{"open":[7]}`, `{"open":null}`, `{"open":[null]}`,
		`{"closed":{}}`, `{"open_for":[]}`, `{"open_for":{"a":"t"}}`, `{"open_for":null}`, `{"open":["a"]`} {
		if _, err := parseList([]byte(text)); err == nil {
			t.Errorf("%s is taken for a list", text)
		}
	}
}

func TestAnETagIsSixteenDigitsBetweenQuotes(t *testing.T) {
	for header, want := range map[string]string{`"0123456789abcdef"`: "0123456789abcdef", `0123456789abcdef`: "", "": "",
		`"0123456789abcdeF"`: "", `"0123456789abcde"`: "", `W/"0123456789abcdef"`: ""} {
		if got := parseETag(header); got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
}

func newTestAgent(t *testing.T) *Agent {
	a, err := newAgent("shop", "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A switch has the name with which its spans start, and those which they are given later.
func TestAGateIsOpenIfOneOfItsNamesIs(t *testing.T) {
	a := newTestAgent(t)
	g, route := a.gate(2, "shop:http:GET"), a.point("shop:http:GET /a")
	if d := g.decide(defaultTable); d.open || !d.openAsEntry || d.isAliased {
		t.Errorf("%+v", d)
	}
	g.point.hits.Add(1)
	g.point.left.Add(1)
	g.count(route, 1, true)
	g.count(g.point, -1, true)
	if d := g.decide(&table{closed: idSet{route.id: {}}}); d.openAsEntry || !d.isAliased {
		t.Errorf("the route is closed: %+v", d)
	}
	if d := g.decide(&table{open: idSet{route.id: {}}}); !d.open || !d.openAsEntry {
		t.Errorf("the route is open: %+v", d)
	}
	closed := &table{closed: idSet{route.id: {}}}
	hits := g.point.hits.Load()
	if (&Tracer{agent: a}).isOpen(g, true, nil, closed) || g.point.hits.Load() != hits {
		t.Error("a closed pass counts, though nobody knows as which point it would have arrived")
	}
	limited := &table{openFor: typesByID{route.id: {"x": {}}, g.point.id: {"y": {}}}}
	if d := g.decide(limited); !d.open || !d.types.has("x") || !d.types.has("y") || len(d.types) != 2 {
		t.Errorf("for types: %+v", d)
	}
	limited = &table{openFor: limited.openFor, open: idSet{g.point.id: {}}}
	if d := g.decide(limited); d.types != nil {
		t.Errorf("one of the names is open for all: %+v", d)
	}
	g.count(route, -1, true)
	if d := g.decide(defaultTable); d.isAliased {
		t.Error("a name in between is still a name")
	}
}

// A start name as which no span arrives is refused, so that it does not look silent.
func TestAPointWhoseSpansAreAllRenamedIsRefused(t *testing.T) {
	a := newTestAgent(t)
	p, q := a.point("shop:http:GET"), a.point("shop:http:GET /a")
	p.left.Store(1)
	q.hits.Store(1)
	p.known, q.known = true, true
	a.use(&table{open: idSet{p.id: {}, q.id: {}}}, "")
	if refused := a.refusals(); len(refused) != 1 || refused[0] != p.id {
		t.Error(refused)
	}
	p.hits.Store(1)
	if refused := a.refusals(); len(refused) != 0 {
		t.Error(refused)
	}
}

func TestPointsHaveALimit(t *testing.T) {
	a := newTestAgent(t)
	for i := range 2 * pointsMax {
		a.gate(1, fmt.Sprintf("shop:x:%d", i))
	}
	if len(a.points) != pointsMax || len(a.gates) != pointsMax || a.point("shop:x:new") != nil || a.point("shop:x:0") == nil {
		t.Errorf("%d points, %d gates", len(a.points), len(a.gates))
	}
	if a = newTestAgent(t); a.point("shop:x:a\nb") != nil || a.point(string(make([]byte, idMax+1))) != nil {
		t.Error("an id that pythiad does not take is a point")
	}
}

func TestNamesAreFoundFromManyThreads(t *testing.T) {
	var n names[string]
	var running sync.WaitGroup
	for range 4 {
		running.Add(1)
		go func() {
			defer running.Done()
			for i := range 3 * namesMax {
				name := fmt.Sprint(i % (namesMax + namesMax/2))
				if found := n.find(name, func(name string) string { return name + "!" }); found != name+"!" {
					t.Errorf("%s: %s", name, found)
				}
			}
		}()
	}
	running.Wait()
	if len(n.all) > namesMax || len(*n.read.Load()) > namesMax {
		t.Errorf("%d and %d names", len(n.all), len(*n.read.Load()))
	}
}

func TestAPriceIsTheMedianOfTheLastPasses(t *testing.T) {
	var p price
	check := func(want float64) {
		t.Helper()
		if ns := p.ns(); ns != want {
			t.Errorf("%v, not %v", ns, want)
		}
	}
	check(0)
	for _, ns := range []time.Duration{500, 700, 12000000, 600, 800} { // one was interrupted
		p.add(ns)
	}
	check(700)
	for range 9 {
		p.add(900)
	}
	check(900)
}

func TestFailuresMakeThePauseLonger(t *testing.T) {
	a := newTestAgent(t)
	for failures, want := range map[int]time.Duration{0: 250, 1: 500, 2: 1000, 3: 2000, 90: 2000} {
		a.failures = failures
		for range 100 {
			if p, want := a.pause(0), want*time.Millisecond; p < want*55/100 || p > want*75/100 {
				t.Errorf("after %d failures: %v", failures, p)
			}
		}
	}
}

func TestASlowAnswerMakesThePauseShorterButLeavesOne(t *testing.T) {
	a := newTestAgent(t)
	for range 100 {
		if p := a.pause(50 * time.Millisecond); p < 87*time.Millisecond || p > 138*time.Millisecond {
			t.Errorf("after 50 ms of 250: %v", p)
		}
		if p := a.pause(time.Second); p != 62500*time.Microsecond {
			t.Errorf("after a second: %v", p)
		}
	}
	a.failures = 1
	if p := a.pause(time.Second); p < 275*time.Millisecond {
		t.Errorf("after a second without an answer: %v", p)
	}
}
