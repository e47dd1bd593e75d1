// SPDX-License-Identifier: MIT

//go:build !unchanged

package main

import (
	"pythia/gate"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

func withSwitches(provider trace.TracerProvider) trace.TracerProvider { return gate.Wrap(provider) }

func withTypes(next propagation.TextMapPropagator) propagation.TextMapPropagator {
	return gate.Propagator(next)
}
