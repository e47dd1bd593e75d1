// SPDX-License-Identifier: MIT

package agent

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// spanContext is a context in which a span is current. It does what trace.ContextWithSpan does, and
// can be part of what is allocated for a span: a pass then costs one allocation.
type spanContext struct {
	context.Context
	span trace.Span
}

func (c *spanContext) Value(key any) any {
	if key == spanKey {
		return c.span
	}
	return c.Context.Value(key)
}

func (c *spanContext) String() string { return "pythia.spanContext" }

type keyCatcher struct {
	context.Context
	key any
}

func (c *keyCatcher) Value(key any) any {
	c.key = key
	return nil
}

// spanKey is the key under which the API looks for the current span. It is not exported, so that
// the API has to show it; nil if the API does not look for it this way.
var spanKey = func() any {
	catcher := &keyCatcher{Context: context.Background()}
	trace.SpanFromContext(catcher)
	return catcher.key
}()

// fill makes c a context in which a span is current, and gives it.
func (c *spanContext) fill(ctx context.Context, span trace.Span) context.Context {
	if spanKey == nil {
		return trace.ContextWithSpan(ctx, span)
	}
	*c = spanContext{ctx, span}
	return c
}
