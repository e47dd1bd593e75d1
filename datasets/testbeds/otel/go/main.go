// SPDX-License-Identifier: MIT

// Command shop is one of three services of a shop, with net/http and otelhttp as their
// documentation shows it: shop front|cart|pricing PORT. POST /plant?quota=MS makes one tenant wait
// for its quota in cart.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

var (
	client = http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport)}
	quota  atomic.Int64 // milliseconds
)

func pause(lowMs, highMs float64) {
	ms := lowMs + rand.Float64()*(highMs-lowMs)
	time.Sleep(time.Duration(ms * float64(time.Millisecond)))
}

func ask(ctx context.Context, url string) (map[string]any, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer map[string]any
	return answer, json.NewDecoder(response.Body).Decode(&answer)
}

func reply(w http.ResponseWriter, answer any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

func order(w http.ResponseWriter, r *http.Request) {
	cart, err := ask(r.Context(), os.Getenv("CART")+"/cart/"+r.PathValue("tenant"))
	if err != nil {
		reply(w, nil, err)
		return
	}
	price, err := ask(r.Context(), fmt.Sprintf("%s/price/%v", os.Getenv("PRICING"), cart["items"]))
	reply(w, map[string]any{"cart": cart, "price": price}, err)
}

func list(w http.ResponseWriter, r *http.Request) {
	pause(5, 10)
	reply(w, []string{}, nil)
}

func cart(port string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pause(3, 6)
		_, err := ask(r.Context(), "http://127.0.0.1:"+port+"/quota/"+r.PathValue("tenant"))
		reply(w, map[string]any{"items": 3}, err)
	}
}

func grant(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("tenant") == "acme" {
		ms := float64(quota.Load())
		pause(ms/2, ms*1.5)
	}
	reply(w, map[string]any{"granted": true}, nil)
}

func plant(w http.ResponseWriter, r *http.Request) {
	ms, err := strconv.ParseInt(r.FormValue("quota"), 10, 64)
	quota.Store(ms)
	reply(w, ms, err)
}

func price(w http.ResponseWriter, r *http.Request) {
	pause(4, 8)
	reply(w, map[string]any{"price": 30}, nil)
}

func routes(name, port string) *http.ServeMux {
	mux := http.NewServeMux()
	switch name {
	case "front":
		mux.HandleFunc("GET /order/{tenant}", order)
		mux.HandleFunc("GET /list", list)
	case "cart":
		mux.HandleFunc("GET /cart/{tenant}", cart(port))
		mux.HandleFunc("GET /quota/{tenant}", grant)
		mux.HandleFunc("POST /plant", plant)
	case "pricing":
		mux.HandleFunc("GET /price/{items}", price)
	}
	return mux
}

func main() {
	name, port := os.Args[1], os.Args[2]
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		log.Fatal(err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	server := http.Server{Addr: "127.0.0.1:" + port, Handler: otelhttp.NewHandler(routes(name, port), "/")}
	go func() {
		<-ctx.Done()
		server.Shutdown(context.Background())
	}()
	err = server.ListenAndServe()
	provider.Shutdown(context.Background())
	if err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
