// Package proxytest runs a proxy within the test's own process. It is for tests that read the proxy's counters, or use
// settings for which "pgflurry serve" has no flag. The IDs come from a counter.
package proxytest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"pgflurry/internal/draw"
	"pgflurry/proxy"
	"pgflurry/proxy/statement"
)

// FirstID is the first ID of these proxies. It is far above those of PostgreSQL.
const FirstID = 1 << 60

// counter gives consecutive IDs.
type counter struct{ last atomic.Int64 }

func (c *counter) TryNextN(n int) (int64, int, error) {
	return FirstID + c.last.Add(int64(n)) - int64(n), n, nil
}

func (c *counter) NextN(_ context.Context, n int) (int64, int, error) { return c.TryNextN(n) }

// Settings returns the settings of a proxy in front of host:port. It answers IDs in every database.
func Settings(upstream string) proxy.Settings {
	return proxy.Settings{
		Upstream: []proxy.Host{{Network: "tcp", Address: upstream}}, IDs: draw.New(&counter{}, nil),
		Permission: func(string) *statement.Permission {
			permission := &statement.Permission{}
			permission.Set(statement.AllNames)
			return permission
		},
	}
}

// Start runs a proxy until the test ends, and returns its host:port.
func Start(t testing.TB, settings proxy.Settings) (address string, p *proxy.Proxy) {
	t.Helper()
	p, err := proxy.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := p.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
		now, cancel := context.WithCancel(context.Background())
		cancel()
		p.Drain(now)
		p.Wait()
	})
	return listener.Addr().String(), p
}
