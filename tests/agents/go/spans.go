// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type link struct {
	Trace string `json:"trace"`
	ID    string `json:"id"`
}

type node struct {
	Name       string            `json:"name"`
	Scope      string            `json:"scope"`
	Kind       string            `json:"kind"`
	Attributes map[string]any    `json:"attributes"`
	Late       map[string]any    `json:"late"`
	Rename     string            `json:"rename"`
	Links      []link            `json:"links"`
	Event      string            `json:"event"`
	Root       bool              `json:"root"`
	Error      string            `json:"error"`
	Baggage    map[string]string `json:"baggage"`
	Apart      bool              `json:"apart"`
	Children   []node            `json:"children"`
	Parallel   bool              `json:"parallel"`
}

// exporter writes spans to standard output.
type exporter struct{}

func (exporter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, span := range spans {
		scope := span.InstrumentationScope().Name
		if strings.HasPrefix(scope, "names") || strings.HasPrefix(scope, "cost") {
			continue
		}
		write(result{"span": describeSpan(span, scope)})
	}
	return nil
}

func (exporter) Shutdown(context.Context) error { return nil }

func describeSpan(span sdktrace.ReadOnlySpan, scope string) result {
	place := span.Resource().Set()
	name, _ := place.Value("service.name")
	host, _ := place.Value("host.name")
	pid, _ := place.Value("process.pid")
	attributes, links, events, parent := result{}, []link{}, []string{}, ""
	for _, one := range span.Attributes() {
		attributes[string(one.Key)] = one.Value.AsInterface()
	}
	for _, one := range span.Links() {
		links = append(links, link{one.SpanContext.TraceID().String(), one.SpanContext.SpanID().String()})
	}
	for _, one := range span.Events() {
		events = append(events, one.Name)
	}
	if span.Parent().HasSpanID() {
		parent = span.Parent().SpanID().String()
	}
	status := map[codes.Code]string{codes.Unset: "unset", codes.Ok: "ok", codes.Error: "error"}[span.Status().Code]
	return result{"service": name.AsString(), "host": host.AsInterface(), "pid": pid.AsInterface(), "scope": scope, "name": span.Name(), "trace": span.SpanContext().TraceID().String(),
		"id": span.SpanContext().SpanID().String(), "parent": parent, "kind": span.SpanKind().String(), "attributes": attributes,
		"links": links, "events": events, "status": status, "state": span.SpanContext().TraceState().String()}
}

var (
	providersMu sync.Mutex
	providers   = map[string]trace.TracerProvider{}
	propagators = withTypes(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
)

func providerOf(name string) trace.TracerProvider {
	providersMu.Lock()
	defer providersMu.Unlock()
	known, ok := providers[name]
	if !ok {
		known = withSwitches(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter{}),
			sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", name)))))
		providers[name] = known
	}
	return known
}

func keyValues(values map[string]any) []attribute.KeyValue {
	var out []attribute.KeyValue
	for key, value := range values {
		switch v := value.(type) {
		case bool:
			out = append(out, attribute.Bool(key, v))
		case float64:
			out = append(out, attribute.Float64(key, v))
		default:
			out = append(out, attribute.String(key, fmt.Sprint(v)))
		}
	}
	return out
}

var kinds = map[string]trace.SpanKind{"": trace.SpanKindInternal, "internal": trace.SpanKindInternal,
	"server": trace.SpanKindServer, "client": trace.SpanKindClient, "producer": trace.SpanKindProducer,
	"consumer": trace.SpanKindConsumer}

func (n node) options() []trace.SpanStartOption {
	options := []trace.SpanStartOption{trace.WithAttributes(keyValues(n.Attributes)...)}
	if n.Kind != "" {
		options = append(options, trace.WithSpanKind(kinds[n.Kind]))
	}
	if n.Root {
		options = append(options, trace.WithNewRoot())
	}
	for _, one := range n.Links {
		id, err := trace.TraceIDFromHex(one.Trace)
		span, err2 := trace.SpanIDFromHex(one.ID)
		if err = errors.Join(err, err2); err != nil {
			panic(err)
		}
		context := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled})
		options = append(options, trace.WithLinks(trace.Link{SpanContext: context}))
	}
	return options
}

// tree makes spans below each other, and notes each in the order of their starts.
type tree struct {
	service string
	mu      sync.Mutex
	made    []result
}

func (t *tree) span(parent context.Context, n node) {
	scope := n.Scope
	if scope == "" {
		scope = "web"
	}
	t.mu.Lock()
	place := len(t.made)
	t.made = append(t.made, nil)
	t.mu.Unlock()
	ctx, span := providerOf(t.service).Tracer(scope).Start(parent, n.Name, n.options()...)
	defer span.End()
	if n.Apart {
		ctx = parent
	}
	span.SetAttributes(keyValues(n.Late)...)
	if n.Event != "" {
		span.AddEvent(n.Event)
	}
	if n.Rename != "" {
		span.SetName(n.Rename)
	}
	ctx = withBaggage(ctx, n.Baggage)
	described := describe(ctx, n.Name, span)
	t.mu.Lock()
	t.made[place] = described
	t.mu.Unlock()
	t.children(ctx, n)
	if n.Error != "" {
		span.RecordError(errors.New(n.Error))
		span.SetStatus(codes.Error, n.Error)
	}
}

func (t *tree) children(ctx context.Context, n node) {
	var running sync.WaitGroup
	for _, child := range n.Children {
		if !n.Parallel {
			t.span(ctx, child)
			continue
		}
		running.Add(1)
		go func() {
			defer running.Done()
			t.span(ctx, child)
		}()
	}
	running.Wait()
}

func withBaggage(ctx context.Context, values map[string]string) context.Context {
	carried := baggage.FromContext(ctx)
	for key, value := range values {
		member, err := baggage.NewMemberRaw(key, value)
		if err != nil {
			panic(err)
		}
		if carried, err = carried.SetMember(member); err != nil {
			panic(err)
		}
	}
	if len(values) > 0 {
		ctx = baggage.ContextWithBaggage(ctx, carried)
	}
	return ctx
}

func describe(ctx context.Context, name string, span trace.Span) result {
	is := span.SpanContext()
	headers, carried := propagation.MapCarrier{}, map[string]string{}
	propagators.Inject(ctx, headers)
	for _, member := range baggage.FromContext(ctx).Members() {
		carried[member.Key()] = member.Value()
	}
	return result{"name": name, "recording": span.IsRecording(), "trace": is.TraceID().String(), "id": is.SpanID().String(),
		"sampled": is.IsSampled(), "state": is.TraceState().String(), "baggage": carried, "headers": headers}
}

func makeTree(name string, nodes []node, headers map[string]string) []result {
	t := &tree{service: name}
	ctx := propagators.Extract(context.Background(), propagation.MapCarrier(headers))
	for _, one := range nodes {
		t.span(ctx, one)
	}
	return t.made
}
