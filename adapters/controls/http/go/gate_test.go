// SPDX-License-Identifier: MIT

package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"pythia/gate/internal/agent"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// shop is a provider with switches, whose list stays the same.
type shop struct {
	trace.TracerProvider
	spans *tracetest.InMemoryExporter
	asked sync.WaitGroup
}

// open gives a provider of a service of its own with these points of the scope "web" open.
func open(t *testing.T, list string) *shop {
	t.Helper()
	s := &shop{spans: tracetest.NewInMemoryExporter()}
	s.asked.Add(2) // the second question comes once the first list is in force
	questions := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if questions++; questions <= 2 {
				s.asked.Done()
			}
			fmt.Fprint(w, list)
		}
	}))
	t.Setenv("PYTHIA_URL", server.URL)
	t.Setenv("PYTHIA_OFF_FILE", "")
	inner := sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.spans),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"))))
	s.TracerProvider = Wrap(inner)
	t.Cleanup(func() {
		s.TracerProvider.(interface{ Shutdown(context.Context) error }).Shutdown(context.Background())
		server.Close()
	})
	s.asked.Wait()
	return s
}

// has fails unless these are the names of the spans, in the order of their ends.
func (s *shop) has(t *testing.T, names string) tracetest.SpanStubs {
	t.Helper()
	spans := s.spans.GetSpans()
	var got []string
	for _, span := range spans {
		got = append(got, span.Name)
	}
	if strings.Join(got, " ") != names {
		t.Errorf("%v, not %s", got, names)
	}
	s.spans.Reset()
	return spans
}

const openAll = `{"poll_ms":10,"lease_ms":600000,"open":["shop:web:a","shop:web:b","shop:web:c"]}`
const openInner = `{"poll_ms":10,"lease_ms":600000,"open":["shop:web:c"]}`

// sampled is how often something is repeated, so that timed spans are among those that are made.
const sampled = 20

func TestAPanicIsRecordedAsWithoutASwitch(t *testing.T) {
	s := open(t, openAll)
	for range sampled {
		func() {
			defer func() {
				if why := recover(); why != "oh" {
					t.Errorf("the panic became %v", why)
				}
			}()
			_, span := s.Tracer("web").Start(context.Background(), "a")
			defer span.End()
			panic("oh")
		}()
		spans := s.has(t, "a")
		if len(spans) != 1 || len(spans[0].Events) != 1 || spans[0].Events[0].Name != "exception" {
			t.Fatalf("%+v", spans)
		}
	}
}

func TestAPanicPassesThroughAClosedSpan(t *testing.T) {
	s := open(t, openInner)
	func() {
		defer func() { recover() }()
		ctx, a := s.Tracer("web").Start(context.Background(), "a")
		defer a.End()
		_, b := s.Tracer("web").Start(ctx, "b")
		defer b.End()
		panic(errors.New("oh"))
	}()
	if spans := s.has(t, "a"); len(spans[0].Events) != 1 {
		t.Errorf("%+v", spans)
	}
}

// The SDK counts the children of a span by its type, and programs look at what a span has become.
func TestASpanIsOneOfTheSDK(t *testing.T) {
	s := open(t, openInner)
	for range sampled {
		ctx, a := s.Tracer("web").Start(context.Background(), "a")
		inner, b := s.Tracer("web").Start(ctx, "b")
		for range 3 {
			_, c := s.Tracer("web").Start(inner, "c")
			c.End()
		}
		if read, ok := a.(sdktrace.ReadWriteSpan); !ok || read.ChildSpanCount() != 3 || read.Name() != "a" {
			t.Fatalf("%T", a)
		}
		if trace.SpanFromContext(ctx) != a || trace.SpanFromContext(inner) != b || b.IsRecording() {
			t.Error("a context has another span")
		}
		if b.SpanContext().SpanID() != a.SpanContext().SpanID() {
			t.Error("a closed span does not stand for the open one above")
		}
		b.End()
		a.End()
		s.has(t, "c c c a")
	}
}

// Instrumentation takes the provider from the span above: otelhttp does, for each request.
func TestTheProviderOfASpanHasSwitches(t *testing.T) {
	s := open(t, openInner)
	for range sampled {
		ctx, a := s.Tracer("web").Start(context.Background(), "a")
		for _, span := range []trace.Span{a, trace.SpanFromContext(ctx)} {
			inner, b := span.TracerProvider().Tracer("web").Start(ctx, "b")
			if b.IsRecording() {
				t.Error("the switch was passed by")
			}
			_, c := b.TracerProvider().Tracer("other").Start(inner, "x")
			if c.IsRecording() {
				t.Error("the switch below a closed span was passed by")
			}
		}
		a.End()
	}
	if s.Tracer("web") != s.Tracer("web") {
		t.Error("a tracer is made for each request")
	}
}

// An entry that gets its route at its end arrives as another point, whose switch is that of the start.
func TestARenamedSpanHasTheSwitchOfItsStart(t *testing.T) {
	s := open(t, `{"poll_ms":10,"lease_ms":600000,"closed":["shop:web:GET /a"]}`)
	serve := func() {
		_, span := s.Tracer("web").Start(context.Background(), "GET", trace.WithSpanKind(trace.SpanKindServer))
		span.SetName("GET ")
		span.SetName("GET /a")
		span.End()
	}
	serve()
	s.has(t, "GET /a")
	serve()
	s.has(t, "")
}

func TestContextsAreThoseOfThePrograms(t *testing.T) {
	s := open(t, openInner)
	type key struct{}
	parent, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, 7))
	ctx, a := s.Tracer("web").Start(parent, "a")
	ctx, b := s.Tracer("web").Start(ctx, "b")
	child, stop := context.WithTimeout(ctx, time.Hour)
	defer stop()
	if child.Value(key{}) != 7 || ctx.Value("no such key") != nil || ctx.Value([1]int{}) != nil {
		t.Error("a value is lost")
	}
	cancel()
	<-child.Done()
	if child.Err() != context.Canceled {
		t.Error(child.Err())
	}
	b.End()
	a.End()
	_, span := s.Tracer("web").Start(nil, "c") //nolint:staticcheck // the SDK takes it
	span.End()
	s.has(t, "a c")
}

// A span without a parent begins a trace, also where it is closed.
func TestAClosedRootIsNotBelowWhatIsAbove(t *testing.T) {
	s := open(t, `{"poll_ms":10,"lease_ms":600000,"open":["shop:web:c"],"closed":["shop:web:b"]}`)
	ctx, a := s.Tracer("web").Start(context.Background(), "a")
	ctx, b := s.Tracer("web").Start(ctx, "b", trace.WithNewRoot())
	_, c := s.Tracer("web").Start(ctx, "c")
	if b.SpanContext().IsValid() || c.SpanContext().TraceID() == a.SpanContext().TraceID() {
		t.Error("the new trace is part of the old one")
	}
	c.End()
	a.End()
	s.has(t, "c a")
}

// A remote parent is a span that is no pointer: comparing it would be a panic.
func TestARemoteParentIsNeverCompared(t *testing.T) {
	s := open(t, openInner)
	remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
		TraceFlags: trace.FlagsSampled})
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), remote)
	ctx, a := s.Tracer("web").Start(ctx, "a")
	_, c := s.Tracer("web").Start(ctx, "c")
	c.End()
	a.End()
	if spans := s.has(t, "c a"); spans[1].Parent.SpanID() != remote.SpanID() || !spans[1].Parent.IsRemote() {
		t.Errorf("%+v", spans[1].Parent)
	}
}

// A provider that is none of the SDK's runs as it is, with switches.
func TestAForeignProviderHasSwitchesToo(t *testing.T) {
	open(t, openInner) // sets the address
	t.Setenv("PYTHIA_SERVICE", "foreign")
	gated := Wrap(noop.NewTracerProvider())
	defer gated.(*Provider).Shutdown(context.Background())
	ctx, span := gated.Tracer("web").Start(context.Background(), "a")
	span.SetName("b")
	span.End()
	if _, isGated := span.TracerProvider().(*Provider); !isGated || trace.SpanFromContext(ctx) != span {
		t.Errorf("%T", span.TracerProvider())
	}
}

func TestWrapLeavesAProviderAsItIs(t *testing.T) {
	s := open(t, openInner)
	if Wrap(s.TracerProvider) != s.TracerProvider {
		t.Error("it has two switches")
	}
	if Wrap(nil) != nil {
		t.Error("nil is wrapped")
	}
	t.Setenv("PYTHIA_GATE", "0")
	inner := sdktrace.NewTracerProvider()
	if Wrap(inner) != trace.TracerProvider(inner) {
		t.Error("PYTHIA_GATE=0 is not heeded")
	}
}

// Without a service, and with an address that is none, a line says so, and the program runs on.
func TestALineSaysWhySpansCannotBeSwitched(t *testing.T) {
	if os.Getenv("GATE_TEST_CHILD") != "" {
		tp := noop.NewTracerProvider()
		if Wrap(tp) != trace.TracerProvider(tp) {
			os.Exit(3)
		}
		os.Exit(0)
	}
	for _, environment := range [][]string{{"OTEL_SERVICE_NAME=", "PYTHIA_SERVICE="}, {"PYTHIA_SERVICE=x", "PYTHIA_URL=https://x"},
		{"PYTHIA_SERVICE=x", "PYTHIA_TOKEN_FILE=/no/such/file"}} {
		child := exec.Command(os.Args[0], "-test.run=TestALineSaysWhySpansCannotBeSwitched")
		child.Env = append(append(os.Environ(), "GATE_TEST_CHILD=1"), environment...)
		output, err := child.CombinedOutput()
		if err != nil || strings.Count(string(output), "\n") != 1 || !strings.HasPrefix(string(output), "pythia-gate: ") {
			t.Errorf("%v: %v: %s", environment, err, output)
		}
	}
}

func TestTheServiceIsThatOfTheResource(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name = depot ")
	if name := serviceFor(noop.NewTracerProvider()); name != "depot" {
		t.Error(name)
	}
	t.Setenv("OTEL_SERVICE_NAME", "cart")
	if name := serviceFor(noop.NewTracerProvider()); name != "cart" {
		t.Error(name)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"))))
	if name := serviceFor(provider); name != "shop" {
		t.Error("the SDK keeps its resource elsewhere: " + name)
	}
}

// Providers of one service share an agent, which ends with the last of them.
func TestShutdownEndsTheAsking(t *testing.T) {
	s := open(t, openInner)
	second := agent.For("shop", "")
	if err := s.TracerProvider.(*Provider).ForceFlush(context.Background()); err != nil {
		t.Error(err)
	}
	s.TracerProvider.(*Provider).Shutdown(context.Background())
	s.TracerProvider.(*Provider).Shutdown(context.Background())
	if third := agent.For("shop", ""); third != second {
		t.Error("the agent ended with the first")
	} else {
		third.Release()
	}
	second.Release()
	if fourth := agent.For("shop", ""); fourth == second {
		t.Error("the agent never ended")
	} else {
		fourth.Release()
	}
}

func serviceFor(provider trace.TracerProvider) string {
	own, _ := resourceOf(provider)
	return serviceOf(own)
}
