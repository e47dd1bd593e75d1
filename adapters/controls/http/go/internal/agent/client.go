// SPDX-License-Identifier: MIT

package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	answerMax   = 8 << 20 // bytes
	headersMax  = 64 << 10
	askDeadline = 2 * time.Second // of a whole exchange
	path        = "/v1/trace-points"
)

// client asks pythiad over one connection that is kept. It writes and reads HTTP/1.1 itself: the
// transport of net/http may be instrumented, and asking must not make spans.
type client struct {
	base   *url.URL
	token  string
	conn   net.Conn
	input  *io.LimitedReader
	reader *bufio.Reader
}

type answer struct {
	status int
	etag   string
	body   []byte
}

var errTooLarge = errors.New("too large an answer")

// parseURL takes URLs of http alone.
func parseURL(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if base.Scheme != "http" || base.Host == "" {
		return nil, fmt.Errorf("PYTHIA_URL is %q, and only http://HOST[:PORT] is known", text)
	}
	return base, nil
}

// ask sends one request and reads the whole answer, within askDeadline. A connection that the
// server closed since the last request is replaced once.
func (c *client) ask(method, query string, headers [][2]string, body []byte) (answer, error) {
	deadline, isKept := time.Now().Add(askDeadline), c.conn != nil
	got, hasAnswered, err := c.exchange(deadline, method, query, headers, body)
	if err != nil && isKept && !hasAnswered && time.Now().Before(deadline) {
		got, _, err = c.exchange(deadline, method, query, headers, body)
	}
	return got, err
}

func (c *client) connect(deadline time.Time) error {
	host := c.base.Host
	if c.base.Port() == "" {
		host = net.JoinHostPort(c.base.Hostname(), "80")
	}
	conn, err := (&net.Dialer{Deadline: deadline}).Dial("tcp", host)
	if err != nil {
		return err
	}
	c.conn, c.input = conn, &io.LimitedReader{R: conn}
	c.reader = bufio.NewReader(c.input)
	return nil
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
	}
	c.conn = nil
}

// exchange tells also whether any of an answer came.
func (c *client) exchange(deadline time.Time, method, query string, headers [][2]string, body []byte) (got answer, hasAnswered bool, err error) {
	isReusable := false
	defer func() {
		if !isReusable {
			c.close()
		}
	}()
	if c.conn == nil {
		if err = c.connect(deadline); err != nil {
			return got, false, err
		}
	}
	if err = c.conn.SetDeadline(deadline); err != nil {
		return got, false, err
	}
	c.input.N = answerMax + headersMax
	if _, err = c.conn.Write(c.message(method, query, headers, body)); err != nil {
		return got, false, err
	}
	if _, err = c.reader.Peek(1); err != nil {
		return got, false, err
	}
	response, err := http.ReadResponse(c.reader, &http.Request{Method: method})
	if err != nil {
		return got, true, err
	}
	defer response.Body.Close()
	got = answer{status: response.StatusCode, etag: response.Header.Get("ETag")}
	got.body, err = io.ReadAll(io.LimitReader(response.Body, answerMax+1))
	if err != nil || len(got.body) > answerMax {
		return answer{}, true, errors.Join(err, errTooLarge)
	}
	isReusable = !response.Close
	return got, true, nil
}

func (c *client) message(method, query string, headers [][2]string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s%s%s HTTP/1.1\r\nHost: %s\r\n", method,
		strings.TrimRight(c.base.EscapedPath(), "/"), path, query, c.base.Host)
	if c.token != "" {
		headers = append(headers, [2]string{"Authorization", "Bearer " + c.token})
	}
	for _, header := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
