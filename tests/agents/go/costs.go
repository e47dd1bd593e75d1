// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/trace"
)

func names(c command) result {
	tracer, recorded := providerOf(service).Tracer(c.Scope), 0
	for i := range c.Count {
		_, span := tracer.Start(context.Background(), fmt.Sprintf("name X%d", i), trace.WithSpanKind(kinds[c.Kind]),
			trace.WithNewRoot())
		if span.IsRecording() {
			recorded++
		}
		span.End()
	}
	return result{"recorded": recorded}
}

func memory(command) result {
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		panic(err)
	}
	return result{"rss_bytes": pages * os.Getpagesize()}
}

// cpuTime gives the CPU time of the calling thread.
func cpuTime() time.Duration {
	const clockThreadCPU = 3
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&now)), 0)
	return time.Duration(now.Nano())
}

// timed gives what a pass costs, of the fastest of twenty rounds.
func timed(count int, pass func()) float64 {
	best := math.Inf(1)
	for range 20 {
		begun := cpuTime()
		for range count {
			pass()
		}
		best = min(best, float64(cpuTime()-begun)/float64(count))
	}
	return best
}

func cost(c command) result {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tracer := providerOf(service).Tracer("cost")
	ctx, root := tracer.Start(context.Background(), "root")
	defer root.End()
	answer := result{}
	for _, name := range []string{"closed", "open"} {
		ns := timed(c.Count, func() {
			_, span := tracer.Start(ctx, name)
			span.End()
		})
		// In Go a span is made current by the context that its start gives.
		answer[name+"_ns"], answer[name+"_current_ns"] = ns, ns
	}
	return answer
}
