// SPDX-License-Identifier: MIT

package agent

import (
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// closedSpan stands for the nearest open span above: what is started below hangs on that.
type closedSpan struct {
	*noop.Span            // shared: it has no state that is used
	nearest    trace.Span // as the SDK made it
	request    *request
	provider   trace.TracerProvider
	current    spanContext // in which it is current
}

var noSpan = &noop.Span{}

func (s *closedSpan) SpanContext() trace.SpanContext       { return s.nearest.SpanContext() }
func (s *closedSpan) TracerProvider() trace.TracerProvider { return s.provider }

// Pass is what a span of an open point is given along: the switch that it passed, and the point as
// which it counts. It is part of the SDK's span where that can be changed (pythia-go), and of a Shown
// else.
type Pass struct {
	tracer  *Tracer
	gate    *gate // nil: there was no capacity for the point, or the pass is not noted yet
	request *request
	inner   trace.Span // as the SDK made it
	point   atomic.Pointer[point]
	isEntry bool
	start   time.Duration // what starting cost; 0: not measured
}

// Shown is embedded in the types of spans that programs see in place of those of the SDK.
type Shown struct {
	Pass
	below, current spanContext // that the SDK gets, and that the program gets
}

// PythiaPass gives the pass itself; spans have it by embedding.
func (p *Pass) PythiaPass() *Pass { return p }

func (s *Shown) pythiaShown() *Shown { return s }

// IsTimed is true if the end of the span is to be measured too.
func (p *Pass) IsTimed() bool { return p.start > 0 }

// Provider gives the provider whose tracers have switches.
func (p *Pass) Provider() trace.TracerProvider { return p.tracer.provider }

// Rename counts the span as another point: it will arrive as that.
func (p *Pass) Rename(name string) {
	if p.gate == nil || !p.inner.IsRecording() {
		return
	}
	to := p.tracer.point(name)
	if to == nil || !p.gate.canBecome(to) {
		return
	}
	from := p.point.Swap(to)
	if from == to {
		return
	}
	from.left.Add(1)
	p.gate.count(to, 1, p.isEntry)
	p.gate.count(from, -1, p.isEntry)
}

// Ended adds what starting the span cost, and ending it since begun, to the price of its point.
func (p *Pass) Ended(begun time.Time) {
	if p.gate != nil {
		p.point.Load().price.add(p.start + time.Since(begun))
	}
}

type passer interface{ PythiaPass() *Pass }

// Holder is a span that programs see, without the span of the SDK for which it stands.
type Holder interface {
	pythiaShown() *Shown
	// Hold gives the span itself once it stands for another; nil: it cannot stand for one of that type.
	Hold(inner trace.Span) trace.Span
}

// plainSpan is a span of an SDK that this module knows nothing of, or one that is not recorded.
type plainSpan struct {
	trace.Span
	Shown
}

func (s *plainSpan) TracerProvider() trace.TracerProvider { return s.Provider() }

func (s *plainSpan) SetName(name string) {
	s.Rename(name)
	s.Span.SetName(name)
}

// Hold makes the span one that stands for another.
func (s *plainSpan) Hold(inner trace.Span) trace.Span {
	s.Span = inner
	return s
}
