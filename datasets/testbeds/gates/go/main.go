// SPDX-License-Identifier: MIT

// Command shop is one of three services that look into a database for each request: shop front|cart|ledger PORT.
//
// net/http, otelhttp, database/sql and otelsql, as their documentation shows them; nothing here knows of switches. front asks
// cart (CART), which asks ledger (LEDGER). POST /plant?ms=MS makes an UPDATE in this service slow for one tenant.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
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
	client  = http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport), Timeout: 30 * time.Second}
	next    = map[string]string{"front": os.Getenv("CART"), "cart": os.Getenv("LEDGER")}[os.Args[1]]
	planted atomic.Int64 // milliseconds
)

// askNext gives the answer of the next service, {} if there is none.
func askNext(ctx context.Context, tenant string) (answer map[string]any, err error) {
	answer = map[string]any{}
	if next == "" {
		return answer, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, next+"/look/"+tenant, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if err = json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, response.Body) // so that the connection is used again
	return answer, err
}

func reply(w http.ResponseWriter, answer any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

func look(database *sql.DB) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tenant := r.PathValue("tenant")
		slow := int64(0)
		if tenant == "acme" {
			slow = planted.Load()
		}
		if err := lookUp(r.Context(), database, tenant, slow); err != nil {
			reply(w, nil, err)
			return
		}
		answer, err := askNext(r.Context(), tenant)
		if err == nil && strings.HasPrefix(r.URL.Path, "/look") {
			answer["items"] = 3
		}
		reply(w, answer, err)
	}
}

func list(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(5 * time.Millisecond)
	reply(w, []string{}, nil)
}

func plant(w http.ResponseWriter, r *http.Request) {
	ms, err := strconv.ParseInt(r.FormValue("ms"), 10, 64)
	planted.Store(ms)
	reply(w, map[string]any{"ms": ms}, err)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		log.Fatal(err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	database, err := openDatabase()
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /order/{tenant}", look(database))
	mux.HandleFunc("GET /look/{tenant}", look(database))
	mux.HandleFunc("GET /list", list)
	mux.HandleFunc("POST /plant", plant)
	server := http.Server{Addr: "127.0.0.1:" + os.Args[2], Handler: otelhttp.NewHandler(mux, "/")}
	go func() {
		<-ctx.Done()
		server.Shutdown(context.Background())
	}()
	err = server.ListenAndServe()
	provider.Shutdown(context.Background())
	if !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
