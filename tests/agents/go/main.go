// SPDX-License-Identifier: MIT

// Command agentprogram is the program of ../README.md in Go: with switches by one line (wrapped.go), or, with the tag
// "unchanged", built by pythia-go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

var (
	outputMu sync.Mutex
	service  = os.Getenv("OTEL_SERVICE_NAME")
)

func write(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	outputMu.Lock()
	defer outputMu.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

type command struct {
	Do      string            `json:"do"`
	Tree    []node            `json:"tree"`
	Service string            `json:"service"`
	Headers map[string]string `json:"headers"`
	Count   int               `json:"count"`
	Threads int               `json:"threads"`
	Scope   string            `json:"scope"`
	Kind    string            `json:"kind"`
	Ms      float64           `json:"ms"`
}

type result = map[string]any

var commands = map[string]func(command) result{
	"spans": func(c command) result {
		of := c.Service
		if of == "" {
			of = service
		}
		return result{"made": makeTree(of, c.Tree, c.Headers)}
	},
	"repeat": repeat,
	"names":  names,
	"pause":  pause,
	"memory": memory,
	"cost":   cost,
}

func main() {
	providerOf(service)
	write(result{"ready": true, "agent": "go"})
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			break
		}
		var c command
		if err := json.Unmarshal(line, &c); err != nil {
			panic(err)
		}
		run, ok := commands[c.Do]
		if !ok {
			write(result{"cannot": c.Do})
			continue
		}
		answer := run(c)
		answer["done"] = c.Do
		write(answer)
	}
	for _, one := range providers {
		if ender, ok := one.(interface{ Shutdown(context.Context) error }); ok {
			ender.Shutdown(context.Background())
		}
	}
}

func repeat(c command) result {
	var workers sync.WaitGroup
	turns := make(chan struct{}, c.Count)
	for range c.Count {
		turns <- struct{}{}
	}
	close(turns)
	for range c.Threads {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for range turns {
				makeTree(service, c.Tree, nil)
			}
		}()
	}
	workers.Wait()
	return result{"count": c.Count}
}

func pause(c command) result {
	late, end := time.Duration(0), time.Now().Add(time.Duration(c.Ms*float64(time.Millisecond)))
	for time.Now().Before(end) {
		from := time.Now()
		time.Sleep(time.Millisecond)
		late = max(late, time.Since(from)-time.Millisecond)
	}
	return result{"late_ms": float64(late) / float64(time.Millisecond)}
}

var _ sdktrace.SpanExporter = exporter{}
