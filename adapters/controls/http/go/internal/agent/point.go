// SPDX-License-Identifier: MIT

package agent

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	idMax      = 512  // bytes
	aliasesMax = 1000 // names that spans of one switch were given later
	sample     = 16   // one pass in so many is timed
)

// price is what some passes cost.
type price struct {
	next   atomic.Uint32
	recent [9]atomic.Int64 // nanoseconds of the last passes; 0: none yet
}

func (p *price) add(cost time.Duration) {
	place := p.next.Add(1) % uint32(len(p.recent))
	p.recent[place].Store(max(1, int64(cost)))
}

// ns gives the median in nanoseconds, as a pass may have been interrupted for milliseconds; 0: no pass
// was measured.
func (p *price) ns() float64 {
	costs := make([]int64, 0, len(p.recent))
	for i := range p.recent {
		if cost := p.recent[i].Load(); cost != 0 {
			costs = append(costs, cost)
		}
	}
	if len(costs) == 0 {
		return 0
	}
	slices.Sort(costs)
	return float64(costs[len(costs)/2])
}

// point is a trace point as pythiad knows it: by the name that its spans have at their end.
type point struct {
	id            string
	hits, entries atomic.Int64
	left          atomic.Int64 // spans that began as this point and were given another name
	price         price        // of a pass while it is open

	// The polling goroutine alone uses these.
	told             int64 // hits that were reported
	toldEntry, known bool
}

// isEntry is true if most passes are entries. Spans that are on their way to another name do not
// make a point an entry point.
func (p *point) isEntry() bool {
	entries := p.entries.Load()
	return entries > 0 && entries*2 >= p.hits.Load() && entries*2 >= p.left.Load()
}

// isRenamed is true if spans begin as this point and practically none ends as it: opening it has no
// effect that pythiad could see.
func (p *point) isRenamed() bool {
	return p.left.Load() > 0 && p.left.Load() > 16*p.hits.Load()
}

// decision is what a table says of a gate.
type decision struct {
	table             *table
	open, openAsEntry bool
	isAliased         bool
	types             idSet // for which it is open; nil: all
}

// gate is the switch of the spans of one kind that begin with one name. Some of them are given
// another name later, as the HTTP server's span, which learns its route at its end: they arrive as
// other points (aliases), which have no other switch than this.
type gate struct {
	point    *point // nil: there was no capacity for it
	passes   atomic.Uint32
	decision atomic.Pointer[decision]

	mu      sync.Mutex
	aliases map[*point]int64 // spans that became each
}

// decide gives what a table says of the gate. One atomic load, unless the table or the names of
// the gate's spans changed.
func (g *gate) decide(t *table) *decision {
	if d := g.decision.Load(); d != nil && d.table == t {
		return d
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d := &decision{table: t, open: t.isOpen(g.point.id, false), isAliased: len(g.aliases) > 0}
	// An entry that was always renamed is open by default as its final names are.
	d.openAsEntry = d.open || !d.isAliased && t.isOpen(g.point.id, true)
	for p := range g.aliases {
		d.open = d.open || t.isOpen(p.id, false)
		d.openAsEntry = d.openAsEntry || t.isOpen(p.id, true)
	}
	d.types = g.typesFor(t)
	g.decision.Store(d)
	return d
}

// typesFor joins the types for which the names of a gate are open; nil: all types.
func (g *gate) typesFor(t *table) idSet {
	if len(t.openFor) == 0 {
		return nil
	}
	ids := []string{g.point.id}
	for p := range g.aliases {
		ids = append(ids, p.id)
	}
	var types idSet
	for _, id := range ids {
		if t.open.has(id) {
			return nil
		}
		if limited, found := t.openFor[id]; found && types == nil {
			types = make(idSet, len(limited))
		}
		for name := range t.openFor[id] {
			types[name] = struct{}{}
		}
	}
	return types
}

// canBecome is true if a span of this gate may become another point.
func (g *gate) canBecome(p *point) bool {
	if p == g.point {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, found := g.aliases[p]
	return found || len(g.aliases) < aliasesMax
}

// count adds passes of a point to it, and to the names of the gate; a name that was only one in
// between goes again.
func (g *gate) count(p *point, more int64, isEntry bool) {
	p.hits.Add(more)
	if isEntry {
		p.entries.Add(more)
	}
	if p == g.point {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.aliases[p]
	if after := before + more; after > 0 {
		if g.aliases == nil {
			g.aliases = make(map[*point]int64)
		}
		g.aliases[p] = after
	} else {
		delete(g.aliases, p)
	}
	if before == 0 || before+more <= 0 {
		g.decision.Store(nil)
	}
}
