// SPDX-License-Identifier: MIT

package agent

import (
	"context"
	"reflect"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// Tracer puts a switch before each span that a tracer of an SDK starts.
type Tracer struct {
	embedded.Tracer
	agent    *Agent
	scope    string
	provider trace.TracerProvider // that programs see
	start    func(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span)
	newSpan  func(isTimed bool) Holder
	gates    [trace.SpanKindConsumer + 1]names[*gate]
	points   names[*point] // by the names that spans are given later
	create   [trace.SpanKindConsumer + 1]func(string) *gate
}

// NewTracer gives a tracer of a service. start is that of the SDK's tracer, provider what spans name
// as theirs. newSpan makes an empty span, whose end calls Ended of its pass if it is timed; nil: the
// SDK's own spans have passes, and provider is the SDK's.
func NewTracer(agent *Agent, scope string, provider trace.TracerProvider, newSpan func(isTimed bool) Holder,
	start func(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span)) *Tracer {
	t := &Tracer{agent: agent, scope: sound(scope), provider: provider, start: start, newSpan: newSpan}
	for kind := range t.create {
		t.create[kind] = func(name string) *gate {
			return agent.gate(trace.SpanKind(kind), pointID(agent.service, t.scope, name))
		}
	}
	return t
}

// relate says where a span stands that is started below another: the nearest open span as the SDK
// made it, whether that is not the span above, and the request; nil: it begins here, or came here
// from another process.
func relate(above trace.Span) (nearest trace.Span, isBelow bool, r *request) {
	switch s := above.(type) {
	case *closedSpan:
		return s.nearest, true, s.request
	case passer:
		p := s.PythiaPass()
		if p.tracer == nil { // a span that was started before there was a switch
			return above, false, nil
		}
		return p.inner, p.tracer.newSpan != nil, p.request
	}
	return above, false, nil
}

// Start starts a span as the SDK does, or, if its point is closed, gives one that stands for the
// nearest open span above.
func (t *Tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if ctx == nil {
		ctx = context.Background()
	}
	kind, isRoot := readOptions(options)
	g := t.gates[kind].find(name, t.create[kind])
	var begun time.Time
	if g.passes.Add(1)%sample == 0 {
		begun = time.Now()
	}
	above := trace.SpanFromContext(ctx)
	nearest, isBelow, r := relate(above)
	if isRoot {
		r = nil
	}
	isEntry := kind == trace.SpanKindServer || kind == trace.SpanKindConsumer
	if r == nil {
		var parent trace.SpanContext
		if !isRoot {
			parent = nearest.SpanContext()
		}
		isEntry = isEntry || !parent.IsValid() || parent.IsRemote()
		r = &request{tracer: t, begins: !parent.IsValid()}
		r.type_, _ = ctx.Value(typeKey{}).(string)
	}
	if !t.isOpen(g, isEntry, r, t.agent.table()) {
		if isRoot {
			nearest = noSpan
		}
		ctx, span := t.close(ctx, nearest, r)
		if !begun.IsZero() {
			t.agent.closed.add(time.Since(begun))
		}
		return ctx, span
	}
	made := pass{gate: g, request: r, isEntry: isEntry, begun: begun, isBelow: isBelow, nearest: nearest}
	if t.newSpan == nil {
		return t.startOwn(ctx, &made, name, options)
	}
	return t.startShown(ctx, &made, name, options)
}

// pass is what is known of an open pass before its span is started.
type pass struct {
	gate             *gate
	request          *request
	isEntry, isBelow bool // isBelow: the SDK does not know the span that is current
	begun            time.Time
	nearest          trace.Span
}

// startOwn starts a span that has a pass itself, if it is recorded.
func (t *Tracer) startOwn(ctx context.Context, made *pass, name string, options []trace.SpanStartOption) (context.Context, trace.Span) {
	if made.isBelow { // the SDK counts the children of a span by its type
		ctx = new(spanContext).fill(ctx, made.nearest)
	}
	ctx, span := t.start(ctx, name, options...)
	if own, ok := span.(passer); ok {
		own.PythiaPass().note(t, made, span)
	}
	return ctx, span
}

// startShown starts a span, and gives another that stands for it.
func (t *Tracer) startShown(ctx context.Context, made *pass, name string, options []trace.SpanStartOption) (context.Context, trace.Span) {
	holder := t.newSpan(made.isTimed())
	s := holder.pythiaShown()
	if made.isBelow {
		ctx = s.below.fill(ctx, made.nearest)
	}
	ctx, inner := t.start(ctx, name, options...)
	span := holder.Hold(inner)
	if span == nil {
		plain := &plainSpan{}
		span, s = plain.Hold(inner), &plain.Shown
	}
	s.note(t, made, inner)
	return s.current.fill(ctx, span), span
}

func (p *pass) isTimed() bool { return !p.begun.IsZero() && p.gate.point != nil }

// Types of options that say nothing of the kind of a span and of its place in the trace. Applying
// attributes copies them, which would double what a closed pass costs.
var (
	attributesType = reflect.TypeOf(trace.WithAttributes())
	timestampType  = reflect.TypeOf(trace.WithTimestamp(time.Time{}))
)

// readOptions gives the kind of a span that is to be started, and whether it begins a trace.
func readOptions(options []trace.SpanStartOption) (trace.SpanKind, bool) {
	var few [8]trace.SpanStartOption
	rest := few[:0]
	for _, option := range options {
		if is := reflect.TypeOf(option); is != attributesType && is != timestampType {
			rest = append(rest, option)
		}
	}
	if len(rest) == 0 {
		return trace.SpanKindInternal, false
	}
	config := trace.NewSpanStartConfig(rest...)
	return trace.ValidateSpanKind(config.SpanKind()), config.NewRoot()
}

// point gives the point of a span's name; nil: there is no capacity for it.
func (t *Tracer) point(name string) *point {
	return t.points.find(name, func(name string) *point {
		return t.agent.point(pointID(t.agent.service, t.scope, name))
	})
}

// isOpen decides about one pass, and counts it.
func (t *Tracer) isOpen(g *gate, isEntry bool, r *request, table *table) bool {
	if g.point == nil {
		return isEntry && !table.none
	}
	d := g.decide(table)
	open := d.open
	if isEntry {
		open = d.openAsEntry
	} else if open && d.types != nil {
		open = r.mayBe(d.types, table)
	}
	if open || !d.isAliased { // else its last name, as which it would arrive, is not known
		g.point.hits.Add(1)
		if isEntry {
			g.point.entries.Add(1)
		}
	}
	return open
}

// close gives a span that stands for the nearest open one, and a context in which it is current.
func (t *Tracer) close(ctx context.Context, nearest trace.Span, r *request) (context.Context, trace.Span) {
	s := &closedSpan{Span: noSpan, nearest: nearest, request: r, provider: t.provider}
	return s.current.fill(ctx, s), s
}

// note says as what a span counts, and what its start cost.
func (p *Pass) note(t *Tracer, made *pass, inner trace.Span) {
	p.tracer, p.request, p.inner, p.isEntry = t, made.request, inner, made.isEntry
	if made.gate.point != nil {
		p.point.Store(made.gate.point)
		p.gate = made.gate
	}
	if first := &made.request.first; first.Load() == nil {
		first.CompareAndSwap(nil, p)
	}
	if made.isTimed() {
		p.start = time.Since(made.begun)
	}
}
