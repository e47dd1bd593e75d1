// SPDX-License-Identifier: MIT

package agent

import (
	"sync"
	"sync/atomic"
)

const namesMax = 5000 // of one tracer and kind, before their identifiers are replaced

// names finds what belongs to a name of spans. Reading takes neither a lock nor an allocation: most
// names are in a map that never changes. New names go to a second map with a lock, and become part
// of the first after as many look-ups there as it has names, so that a look-up costs O(1) on
// average. A table that is full begins anew.
type names[V any] struct {
	read   atomic.Pointer[map[string]V]
	mu     sync.Mutex
	all    map[string]V
	misses int
}

// find gives what belongs to a name, by create the first time, which is called with the lock held.
func (n *names[V]) find(name string, create func(string) V) V {
	if read := n.read.Load(); read != nil {
		if found, ok := (*read)[name]; ok {
			return found
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	found, ok := n.all[name]
	if !ok {
		found = create(name)
		if len(n.all) >= namesMax || n.all == nil {
			n.all = map[string]V{}
		}
		n.all[name] = found
	}
	if n.misses++; n.misses >= len(n.all) {
		n.promote()
	}
	return found
}

func (n *names[V]) promote() {
	read := make(map[string]V, len(n.all))
	for name, one := range n.all {
		read[name] = one
	}
	n.read.Store(&read)
	n.misses = 0
}
