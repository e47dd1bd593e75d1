// SPDX-License-Identifier: MIT

package gate

import (
	"time"

	"pythia/gate/internal/agent"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// openSpan is what a program sees of a span of the SDK. All but its name and its provider are the
// SDK's own methods, End among them: the SDK records a panic only if End itself is deferred.
type openSpan struct {
	sdktrace.ReadWriteSpan
	agent.Shown
}

func (s *openSpan) TracerProvider() trace.TracerProvider { return s.Provider() }

// SetName names the span, which then counts as another trace point.
func (s *openSpan) SetName(name string) {
	s.Rename(name)
	s.ReadWriteSpan.SetName(name)
}

// timedSpan is an openSpan whose end is measured.
type timedSpan struct{ openSpan }

// End ends the span. A panic that passes through it is recorded by the SDK.
func (s *timedSpan) End(options ...trace.SpanEndOption) {
	if why := recover(); why != nil {
		defer s.ReadWriteSpan.End(options...)
		panic(why)
	}
	defer s.Ended(time.Now())
	s.ReadWriteSpan.End(options...)
}

// Hold makes the span stand for one of the SDK that is recorded.
func (s *openSpan) Hold(inner trace.Span) trace.Span {
	recorded, ok := inner.(sdktrace.ReadWriteSpan)
	if !ok {
		return nil
	}
	s.ReadWriteSpan = recorded
	return s
}

// Hold makes the span stand for one of the SDK that is recorded.
func (s *timedSpan) Hold(inner trace.Span) trace.Span {
	if s.openSpan.Hold(inner) == nil {
		return nil
	}
	return s
}

func newSpan(isTimed bool) agent.Holder {
	if isTimed {
		return &timedSpan{}
	}
	return &openSpan{}
}
