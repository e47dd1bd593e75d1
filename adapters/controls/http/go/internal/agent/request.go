// SPDX-License-Identifier: MIT

package agent

import (
	"context"
	"net/url"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// TypeHeader carries the type of a request to the services that it calls.
const TypeHeader = "pythia-request-type"

const typeMax = 1024 // bytes of the header

type typeKey struct{} // of a context: the type that the caller's header names

// request is a request in this process, from one entry on. Its type is needed only for points that
// are open for some types, and found when one of them is passed.
type request struct {
	tracer *Tracer
	type_  string // by the caller; "": unknown
	begins bool   // in this process
	first  atomic.Pointer[Pass]
}

// recorded is what a span of the SDK says about itself.
type recorded interface {
	Name() string
	SpanKind() trace.SpanKind
	Attributes() []attribute.KeyValue
}

// Attributes that name a request before its span does.
var naming = []attribute.Key{"rpc.method", "messaging.destination.template", "url.path", "url.full", "http.target", "http.url"}

func isMethod(name string) bool {
	switch name {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH":
		return true
	}
	return false
}

func find(attributes []attribute.KeyValue, key attribute.Key) (attribute.Value, bool) {
	for i := len(attributes) - 1; i >= 0; i-- { // the last value of a key holds
		if attributes[i].Key == key {
			return attributes[i].Value, true
		}
	}
	return attribute.Value{}, false
}

func textOf(attributes []attribute.KeyValue, key attribute.Key) string {
	if value, found := find(attributes, key); found && value.Type() == attribute.STRING {
		return value.AsString()
	}
	return ""
}

// typeFor finds the type of the request as pythiad does; "": it is not known yet, or not here.
func (r *request) typeFor(t *table) string {
	first := r.first.Load()
	if !r.begins || first == nil {
		return r.type_
	}
	span, ok := first.inner.(recorded)
	if !ok {
		return ""
	}
	attributes := span.Attributes()
	if t.typeKey != "" {
		return textOf(attributes, attribute.Key(t.typeKey))
	}
	if declared := textOf(attributes, "request_type"); declared != "" {
		return declared
	}
	tracer, name := first.tracer, span.Name()
	if route := textOf(attributes, "http.route"); route != "" {
		return sound(tracer.agent.service + " " + method(attributes, name) + route)
	}
	// Spans of other kinds are named by attributes that may be set later, and spans that may be
	// renamed by their last name.
	if span.SpanKind() != trace.SpanKindInternal || isMethod(name) || first.gate == nil ||
		first.gate.decide(t).isAliased {
		return ""
	}
	for _, key := range naming {
		if _, found := find(attributes, key); found {
			return ""
		}
	}
	return pointID(tracer.agent.service, tracer.scope, name)
}

// method gives the HTTP method and a space, or "".
func method(attributes []attribute.KeyValue, name string) string {
	for _, key := range []attribute.Key{"http.request.method", "http.method"} {
		if found := textOf(attributes, key); found != "" {
			return found + " "
		}
	}
	if isMethod(name) {
		return name + " "
	}
	return ""
}

// mayBe is true if the request is of one of the types, or its type is not known.
func (r *request) mayBe(types idSet, t *table) bool {
	found := r.typeFor(t)
	return found == "" || types.has(found)
}

// TypeToSend gives the value of TypeHeader for requests that are sent in a context; "" for none: no
// point of any service is open for some types only, or the type is not known.
func TypeToSend(ctx context.Context) string {
	_, _, r := relate(trace.SpanFromContext(ctx))
	if r == nil {
		return ""
	}
	t := r.tracer.agent.table()
	if !t.typed {
		return ""
	}
	escaped := url.PathEscape(r.typeFor(t))
	if len(escaped) > typeMax {
		return ""
	}
	return escaped
}

// ContextWithType gives a context in which a request's type is what the header of its caller says.
func ContextWithType(ctx context.Context, header string) context.Context {
	if header == "" || len(header) > typeMax {
		return ctx
	}
	name, err := url.PathUnescape(header)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, typeKey{}, name)
}
