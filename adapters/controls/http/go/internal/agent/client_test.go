// SPDX-License-Identifier: MIT

package agent

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve gives an agent, not asking by itself, of a server.
func serve(t *testing.T, handler http.HandlerFunc) (*Agent, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Setenv("PYTHIA_URL", server.URL)
	t.Setenv("PYTHIA_OFF_FILE", filepath.Join(t.TempDir(), "off"))
	a := newTestAgent(t)
	t.Cleanup(a.client.close)
	return a, server
}

func TestTheOffFileIsStrongerThanTheList(t *testing.T) {
	a, server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"open":["x"],"lease_ms":600000}`) })
	ask := func() {
		t.Helper()
		if err := a.ask(); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	if !a.table().isOpen("x", false) {
		t.Fatal("x is not open")
	}
	if err := os.WriteFile(a.offFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ask()
	if a.table() != offTable {
		t.Error("the list is in force beside the file")
	}
	os.Remove(a.offFile)
	server.Close()
	if a.ask() == nil || a.table() != defaultTable {
		t.Error("without the file, and without an answer, the default set does not hold")
	}
}

func TestAConnectionThatTheServerClosedIsReplaced(t *testing.T) {
	asked := 0
	a, server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprint(w, "{}")
	})
	for i := range 3 {
		if _, err := a.client.ask("GET", a.query, nil, nil); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		server.CloseClientConnections()
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

// A server that sends without end is cut off, in the body and in the head.
func TestAnswersHaveALimit(t *testing.T) {
	a, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", answerMax+1)) })
	if _, err := a.client.ask("GET", a.query, nil, nil); err == nil {
		t.Error("a body of more than 8 MiB is taken")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n", strings.Repeat("a: b\r\n", (answerMax+headersMax)/6+1), "\r\n")
	}()
	t.Setenv("PYTHIA_URL", "http://"+listener.Addr().String())
	if _, err := newTestAgent(t).client.ask("GET", a.query, nil, nil); err == nil {
		t.Error("a head of more than 8 MiB is taken")
	}
}

func TestAReportIsNoLargerThanTheServerTakes(t *testing.T) {
	a := newTestAgent(t)
	for i := range 2 * reportPoints {
		a.point(fmt.Sprintf("shop:x:%s%d", strings.Repeat(`"`, 490), i)).hits.Store(1)
	}
	news := a.news(false, false)
	body, err := a.reportBody(news, "")
	if err != nil || len(body) > 1<<20 || len(news) < 500 {
		t.Errorf("%d points in %d bytes, %v", len(news), len(body), err)
	}
}
