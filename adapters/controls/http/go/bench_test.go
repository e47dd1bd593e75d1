// SPDX-License-Identifier: MIT

package gate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type discard struct{}

func (discard) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (discard) Shutdown(context.Context) error                             { return nil }

// What one pass of a span below another costs, without a gate, open and closed.
func bench(b *testing.B, wrap bool, list string, options ...trace.SpanStartOption) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(list))
	}))
	defer server.Close()
	b.Setenv("PYTHIA_URL", server.URL)
	inner := sdktrace.NewTracerProvider(sdktrace.WithBatcher(discard{}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "bench"))))
	defer inner.Shutdown(context.Background())
	var provider trace.TracerProvider = inner
	if wrap {
		gated := Wrap(inner)
		defer gated.(*Provider).Shutdown(context.Background())
		provider = gated
		time.Sleep(100 * time.Millisecond)
	}
	tracer := provider.Tracer("x")
	ctx, _ := tracer.Start(context.Background(), "root")
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		_, span := tracer.Start(ctx, "inner", options...)
		span.End()
	}
}

const benchOpen = `{"open":["bench:x:inner"]}`

var benchAttributes = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient),
	trace.WithAttributes(attribute.String("db.system", "sqlite"), attribute.String("db.statement", "SELECT 1"), attribute.Int("rows", 1))}

func BenchmarkUngated(b *testing.B)        { bench(b, false, "") }
func BenchmarkOpen(b *testing.B)           { bench(b, true, benchOpen) }
func BenchmarkClosed(b *testing.B)         { bench(b, true, `{}`) }
func BenchmarkUngatedOptions(b *testing.B) { bench(b, false, "", benchAttributes...) }
func BenchmarkOpenOptions(b *testing.B)    { bench(b, true, benchOpen, benchAttributes...) }
func BenchmarkClosedOptions(b *testing.B)  { bench(b, true, `{}`, benchAttributes...) }
