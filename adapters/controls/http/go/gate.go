// SPDX-License-Identifier: MIT

// Package gate makes each kind of span of an OpenTelemetry program a switch that pythiad throws
// (pythia-control-http(7)), by one line in main:
//
//	otel.SetTracerProvider(gate.Wrap(provider))
//
// A closed kind of span is transparent: it makes no span, and what is started below it hangs on the
// nearest open span above. Without pythiad, entry points stay open.
//
// Environment: PYTHIA_URL (http://127.0.0.1:4318), PYTHIA_SERVICE (service.name of the provider's
// resource), PYTHIA_TOKEN_FILE (a file with a token for the header Authorization), PYTHIA_OFF_FILE
// (/run/pythia/off: while this file is there everything is closed), PYTHIA_GATE=0 (do nothing).
package gate

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"pythia/gate/internal/agent"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// Provider is a TracerProvider whose spans have switches.
type Provider struct {
	embedded.TracerProvider
	inner   trace.TracerProvider
	agent   *agent.Agent
	tracers sync.Map // trace.Tracer of inner -> *agent.Tracer
	release sync.Once
}

// Wrap puts a switch before each span of a provider, and asks pythiad from now on what shall be
// open. The service is PYTHIA_SERVICE, service.name of the provider's resource, or what
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES name; without any, with PYTHIA_GATE=0, and if the
// provider has switches already, the provider itself is given. Safe for use by several goroutines.
func Wrap(provider trace.TracerProvider) trace.TracerProvider {
	if provider == nil || agent.IsOff() {
		return provider
	}
	if _, isGated := provider.(interface{ PythiaAgent() string }); isGated {
		return provider
	}
	own, place := resourceOf(provider)
	a := agent.For(serviceOf(own), agent.HostOf(own.Set()))
	if a == nil {
		return provider
	}
	if named, err := resource.Merge(resource.NewSchemaless(agent.Place()...), own); err == nil && place != nil {
		atomic.StorePointer(place, unsafe.Pointer(named)) // other goroutines may start spans
	}
	return &Provider{inner: provider, agent: a}
}

// PythiaAgent gives the version of the agent.
func (p *Provider) PythiaAgent() string { return agent.Version }

// Tracer gives the tracer of the wrapped provider, with switches.
func (p *Provider) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	inner := p.inner.Tracer(name, options...)
	if reflect.TypeOf(inner).Kind() != reflect.Pointer { // it may be no key of a map
		return agent.NewTracer(p.agent, name, p, newSpan, inner.Start)
	}
	known, ok := p.tracers.Load(inner)
	if !ok {
		known, _ = p.tracers.LoadOrStore(inner, agent.NewTracer(p.agent, name, p, newSpan, inner.Start))
	}
	return known.(*agent.Tracer)
}

// ForceFlush exports what the wrapped provider holds back.
func (p *Provider) ForceFlush(ctx context.Context) error {
	if flusher, ok := p.inner.(interface{ ForceFlush(context.Context) error }); ok {
		return flusher.ForceFlush(ctx)
	}
	return nil
}

// Shutdown ends the asking, and the wrapped provider.
func (p *Provider) Shutdown(ctx context.Context) error {
	p.release.Do(p.agent.Release)
	if ender, ok := p.inner.(interface{ Shutdown(context.Context) error }); ok {
		return ender.Shutdown(ctx)
	}
	return nil
}

// serviceOf finds the name of a service; "": there is none.
func serviceOf(own *resource.Resource) string {
	if name, ok := own.Set().Value("service.name"); ok && name.Type() == attribute.STRING {
		return name.AsString()
	}
	return agent.ServiceOr("")
}

// resourceOf finds the resource of a provider, and the field that has it; nil: there is none. The
// SDK does not export the resource of a provider before there are spans.
func resourceOf(provider trace.TracerProvider) (*resource.Resource, *unsafe.Pointer) {
	value := reflect.ValueOf(provider)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return nil, nil
	}
	field := value.Elem().FieldByName("resource")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*resource.Resource]() {
		return nil, nil
	}
	place := (*unsafe.Pointer)(unsafe.Pointer(field.UnsafeAddr()))
	return (*resource.Resource)(atomic.LoadPointer(place)), place
}

// Propagator sends the type of a request to the services that are called, and takes it from those
// that call, beside what another propagator sends and takes. Only points that are open for some
// types of requests need it:
//
//	otel.SetTextMapPropagator(gate.Propagator(propagation.TraceContext{}))
func Propagator(next propagation.TextMapPropagator) propagation.TextMapPropagator {
	return propagator{next}
}

type propagator struct{ propagation.TextMapPropagator }

func (p propagator) Inject(ctx context.Context, carrier propagation.TextMapCarrier) {
	p.TextMapPropagator.Inject(ctx, carrier)
	if name := agent.TypeToSend(ctx); name != "" {
		carrier.Set(agent.TypeHeader, name)
	}
}

func (p propagator) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	return agent.ContextWithType(p.TextMapPropagator.Extract(ctx, carrier), carrier.Get(agent.TypeHeader))
}

func (p propagator) Fields() []string {
	return append(p.TextMapPropagator.Fields(), agent.TypeHeader)
}
