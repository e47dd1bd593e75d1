// SPDX-License-Identifier: MIT

package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// From one question to the next pass .55 to .75 of the time that the list names: a switch shall be in
// force within that time, and on a busy machine the answer and the report take up to 50 ms of it.
const (
	earliest = .55
	jitter   = .2
)

const (
	reportPoints = 1000             // in one report
	reportBytes  = 1<<20 - 4096     // of its points; pythiad takes 1 MiB
	newsPause    = time.Second      // between reports of new points
	countsPause  = 10 * time.Second // between reports of nothing but hits and prices
)

func (a *Agent) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer a.client.close()
	for {
		select {
		case <-a.stop:
			return
		case <-timer.C:
		}
		asked := time.Now()
		if err := a.ask(); err != nil {
			a.failures++
		}
		timer.Reset(a.pause(time.Since(asked)))
	}
}

// pause gives the time to wait after a question that took so long: more after failures, and at most
// two seconds then.
func (a *Agent) pause(took time.Duration) time.Duration {
	share := earliest + jitter*rand.Float64()
	if a.failures > 0 {
		return time.Duration(float64(min(a.poll<<min(a.failures, 10), backoffMax)) * share)
	}
	return max(time.Duration(float64(a.poll)*share)-took, a.poll/4)
}

// isSwitchedOff is true while the off file is there.
func (a *Agent) isSwitchedOff() bool {
	if a.offFile == "" {
		return false
	}
	_, err := os.Stat(a.offFile)
	return err == nil
}

// use puts a table in force.
func (a *Agent) use(t *table, etag string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current.Store(t)
	a.etag = etag
}

// renew lets the list in force hold for a lease from now on. A timer ends it, and not the next
// question: that may hang.
func (a *Agent) renew() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease != nil {
		a.lease.Stop()
	}
	var timer *time.Timer
	timer = time.AfterFunc(a.leaseFor, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.lease == timer && a.current.Load() != offTable {
			a.current.Store(defaultTable)
			a.etag = ""
		}
	})
	a.lease = timer
}

// ask asks once what shall be open, and reports.
func (a *Agent) ask() error {
	isOff := a.isSwitchedOff()
	if isOff {
		a.use(offTable, "")
	} else if a.current.Load() == offTable {
		a.use(defaultTable, "")
	}
	var headers [][2]string
	if etag := a.inForce(); etag != "" {
		headers = [][2]string{{"If-None-Match", `"` + etag + `"`}}
	}
	got, err := a.client.ask("GET", a.query, headers, nil)
	if err != nil {
		return err
	}
	wantsAll := false
	switch got.status {
	case 200:
		l, err := parseList(got.body)
		if err != nil {
			return err
		}
		a.poll, a.leaseFor, wantsAll = l.poll, l.lease, l.report
		if etag := parseETag(got.etag); !isOff { // the file is stronger than the list
			a.isUnreported = a.isUnreported || etag != a.inForce()
			a.use(l.table, etag)
		}
	case 304:
	default:
		return fmt.Errorf("answer %d", got.status)
	}
	a.failures = 0
	a.renew()
	return a.report(wantsAll)
}

func (a *Agent) inForce() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.etag
}

// parseETag gives the 16 hexadecimal digits between the quotes, or "".
func parseETag(header string) string {
	digits := strings.TrimSuffix(strings.TrimPrefix(header, `"`), `"`)
	if len(digits) != 16 || len(header) != 18 || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return digits
}

type pointReport struct {
	ID            string   `json:"id"`
	Hits          int64    `json:"hits"`
	OpenByDefault bool     `json:"open_by_default"`
	PriceNs       *float64 `json:"price_ns,omitempty"`

	point *point
	told  int64
}

func priceOf(p *price) *float64 {
	ns := p.ns()
	if ns == 0 {
		return nil
	}
	return &ns
}

// news gives the points that are to be reported; withCounts: also those of which only hits changed.
func (a *Agent) news(everything, withCounts bool) []pointReport {
	a.mu.Lock()
	defer a.mu.Unlock()
	var news []pointReport
	size := 0
	for _, p := range a.points {
		if everything {
			p.known = false
		}
		hits, isEntry := p.hits.Load(), p.isEntry()
		isNews := !p.known && hits > 0
		if p.known {
			isNews = isEntry != p.toldEntry || withCounts && hits != p.told
		}
		if !isNews || len(news) >= reportPoints || size >= reportBytes {
			continue
		}
		size += 2*len(p.id) + 128 // quotes and backslashes of an id take two bytes
		news = append(news, pointReport{ID: p.id, Hits: max(0, hits-p.told), OpenByDefault: isEntry,
			PriceNs: priceOf(&p.price), point: p, told: hits})
	}
	return news
}

// refusals gives the points that shall be open and cannot be: all of their spans are given another
// name.
func (a *Agent) refusals() []string {
	t := a.table()
	a.mu.Lock()
	defer a.mu.Unlock()
	refused := []string{}
	for _, p := range a.points {
		if p.isRenamed() && p.known && t.isOpen(p.id, false) && len(refused) < reportPoints {
			refused = append(refused, p.id)
		}
	}
	return refused
}

// report says which points there are and which list is in force, if there is something to say.
func (a *Agent) report(everything bool) error {
	now := time.Now()
	if now.Before(a.quietUntil) {
		return nil
	}
	since := now.Sub(a.reported)
	if !a.isUnreported && !everything && since < newsPause {
		return nil
	}
	news, applied := a.news(everything, since > countsPause), a.inForce()
	if len(news) == 0 && !a.isUnreported && !everything {
		return nil
	}
	body, err := a.reportBody(news, applied)
	if err != nil {
		return err
	}
	got, err := a.client.ask("POST", "", nil, body)
	if err != nil {
		return err
	}
	if got.status != 200 { // again would not help
		a.quietUntil = now.Add(countsPause)
		return nil
	}
	for _, one := range news {
		one.point.known, one.point.told, one.point.toldEntry = true, one.told, one.OpenByDefault
	}
	a.isUnreported = a.isUnreported && a.inForce() != applied
	a.reported = now
	if len(news) == reportPoints { // there may be more
		a.reported = time.Time{}
	}
	return nil
}

func (a *Agent) reportBody(news []pointReport, applied string) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if news == nil {
		news = []pointReport{}
	}
	err := encoder.Encode(struct {
		Service  string        `json:"service"`
		Instance string        `json:"instance"`
		Agent    string        `json:"agent"`
		Applied  string        `json:"applied"`
		ClosedNs *float64      `json:"closed_ns,omitempty"`
		Points   []pointReport `json:"points"`
		Refused  []string      `json:"refused"`
	}{a.service, a.instance, Version, applied, priceOf(&a.closed), news, a.refusals()})
	return body.Bytes(), err
}
