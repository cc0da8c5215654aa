// Package network gives a way to a server that a test can cut, silence, end in the middle of an answer, or lead
// elsewhere.
package network

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/server"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Link is a TCP port that leads to a server. Its methods are for one goroutine.
type Link struct {
	t     testing.TB
	proxy *toxiproxy.Proxy
}

// To opens a link to the server of a URL. It returns the link, and the URL through it. The link ends with the test.
func To(t testing.TB, direct string) (*Link, string) {
	t.Helper()
	u := server.Parse(t, direct)
	quiet := zerolog.Nop()
	// Lead closes the port for a moment, so it must be none that the system gives to a connection.
	listen := fmt.Sprintf("127.0.0.1:%d", server.FreePort(t))
	l := &Link{t: t, proxy: toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), quiet), "link",
		listen, u.Host)}
	if err := l.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.proxy.Stop)
	u.Host = l.proxy.Listen
	return l, u.String()
}

// Address is the host and port of the link.
func (l *Link) Address() string { return l.proxy.Listen }

// Silence lets nothing pass in either direction, as a partition does that drops packets. Connections stay open, and the
// link accepts new ones.
func (l *Link) Silence() {
	l.t.Helper()
	l.add("timeout", "upstream", "timeout", 0)
	l.add("timeout", "downstream", "timeout", 0)
}

// Delay lets each answer of the server come that much later.
func (l *Link) Delay(by time.Duration) {
	l.t.Helper()
	l.add("latency", "downstream", "latency", int(by.Milliseconds()))
}

// CutAnswers ends each connection, also an open one, after the server has sent n more bytes. The server has done its
// work then, and its answer is lost.
func (l *Link) CutAnswers(bytes int) {
	l.t.Helper()
	l.add("limit_data", "downstream", "bytes", bytes)
}

func (l *Link) add(kind, direction, attribute string, value int) {
	l.t.Helper()
	_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(
		fmt.Sprintf(`{"type": %q, "stream": %q, "attributes": {%q: %d}}`, kind, direction, attribute, value)))
	if err != nil {
		l.t.Fatalf("%s %s: %v", direction, kind, err)
	}
}

// Heal lets everything pass again. It closes connections that a Silence has met.
func (l *Link) Heal() { l.proxy.Toxics.ResetToxics(context.Background()) }

// Lead ends all connections and leads new ones to another address. It refuses them if the address is empty.
func (l *Link) Lead(address string) {
	l.t.Helper()
	next := &toxiproxy.Proxy{Listen: l.proxy.Listen, Upstream: address, Enabled: address != ""}
	if address == "" {
		next.Upstream = l.proxy.Upstream
	}
	// A program that another test is about to start still has the old listener, until its exec.
	server.Until(l.t, func() error { return l.proxy.Update(next) })
}
