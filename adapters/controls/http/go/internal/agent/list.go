// SPDX-License-Identifier: MIT

package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

type idSet map[string]struct{}

func (s idSet) has(id string) bool {
	_, found := s[id]
	return found
}

// UnmarshalJSON takes an array of strings and nothing else: null would be taken for an empty list
// by encoding/json, and is a mistake of the server here.
func (s *idSet) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '[' {
		return errors.New("no list of ids")
	}
	var ids []*string
	if err := json.Unmarshal(text, &ids); err != nil {
		return err
	}
	*s = make(idSet, len(ids))
	for _, id := range ids {
		if id == nil {
			return errors.New("null is no id")
		}
		(*s)[*id] = struct{}{}
	}
	return nil
}

type typesByID map[string]idSet

// UnmarshalJSON takes an object whose members are arrays of strings.
func (t *typesByID) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return errors.New("no types by id")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*t = make(typesByID, len(raw))
	for id, types := range raw {
		var set idSet
		if err := set.UnmarshalJSON(types); err != nil {
			return err
		}
		(*t)[id] = set
	}
	return nil
}

// table says what is open. A table never changes: another list makes another table, so that its
// address tells whether a decision that was made by it still holds.
type table struct {
	open    idSet
	openFor typesByID // points that are open for some types of requests only
	closed  idSet
	none    bool   // the default set: nothing; else entry points
	typed   bool   // a point of any service is open for some types only
	typeKey string // the attribute that names the type; "": none
}

// isOpen is true if a point is open, for some types at least.
func (t *table) isOpen(id string, isEntry bool) bool {
	if t.open.has(id) {
		return true
	}
	if _, found := t.openFor[id]; found {
		return true
	}
	return isEntry && !t.none && !t.closed.has(id)
}

// Distinct addresses even though both could be of size zero otherwise.
var (
	defaultTable = &table{}
	offTable     = &table{none: true}
)

// list is an answer of pythiad.
type list struct {
	table       *table
	lease, poll time.Duration
	report      bool // pythiad knows nothing of this agent
}

// milliseconds reads a number within [low, high]; anything else is otherwise.
func milliseconds(text json.RawMessage, low, high, otherwise float64) time.Duration {
	ms, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(ms) {
		ms = otherwise
	}
	return time.Duration(min(max(ms, low), high) * float64(time.Millisecond))
}

// parseList reads the answer to a GET (pythia-control-http(7)). O(size).
func parseList(text []byte) (list, error) {
	var raw struct {
		Open    idSet           `json:"open"`
		OpenFor typesByID       `json:"open_for"`
		Closed  idSet           `json:"closed"`
		Default json.RawMessage `json:"default"`
		TypeKey json.RawMessage `json:"type_key"`
		Lease   json.RawMessage `json:"lease_ms"`
		Poll    json.RawMessage `json:"poll_ms"`
		Report  json.RawMessage `json:"report"`
	}
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return list{}, errors.New("the list is not an object")
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return list{}, fmt.Errorf("the list cannot be read: %w", err)
	}
	t := &table{open: raw.Open, openFor: raw.OpenFor, closed: raw.Closed, none: string(raw.Default) == `"none"`}
	if len(raw.TypeKey) > 0 && raw.TypeKey[0] == '"' {
		t.typed = json.Unmarshal(raw.TypeKey, &t.typeKey) == nil
	}
	return list{table: t, lease: milliseconds(raw.Lease, 100, 86400000, 30000),
		poll: milliseconds(raw.Poll, 10, 60000, 250), report: string(raw.Report) == "true"}, nil
}
