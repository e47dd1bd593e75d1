// SPDX-License-Identifier: MIT

// Command conformance is a program with the OpenTelemetry SDK of Go, as its users write it:
// conformance grpc|http HOST:PORT none|gzip COUNT sends so many spans, one export each, and fails if
// one of them is refused.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

func client(protocol, address string, packed bool) otlptrace.Client {
	if protocol == "grpc" {
		options := []otlptracegrpc.Option{otlptracegrpc.WithInsecure(), otlptracegrpc.WithEndpoint(address)}
		if packed {
			options = append(options, otlptracegrpc.WithCompressor("gzip"))
		}
		return otlptracegrpc.NewClient(options...)
	}
	options := []otlptracehttp.Option{otlptracehttp.WithInsecure(), otlptracehttp.WithEndpoint(address)}
	if packed {
		options = append(options, otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	}
	return otlptracehttp.NewClient(options...)
}

func send(protocol, address string, packed bool, count int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	exporter, err := otlptrace.New(ctx, client(protocol, address, packed))
	if err != nil {
		return err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	for i := 0; i < count; i++ {
		_, span := provider.Tracer("conformance").Start(ctx, "request")
		span.End()
		if err := provider.ForceFlush(ctx); err != nil {
			return err
		}
	}
	return provider.Shutdown(ctx)
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: conformance grpc|http HOST:PORT none|gzip COUNT")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[4])
	if err == nil {
		err = send(os.Args[1], os.Args[2], os.Args[3] == "gzip", count)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
