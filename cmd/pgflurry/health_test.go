package main

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/config"
	"pgflurry/internal/fault"
)

// answering accepts connections, and answers the first eight bytes of each.
func answering(t *testing.T, network, address, answer string) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, conn, 8); err == nil {
				_, _ = io.WriteString(conn, answer)
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestHealthIsTheAnswerToAnSSLRequest(t *testing.T) {
	cases := []struct{ network, address, answer, want string }{
		{"tcp", "127.0.0.1:0", "N", ""},
		{"tcp", "127.0.0.1:0", "S", ""},
		{"unix", filepath.Join(t.TempDir(), ".s.PGSQL.6432"), "N", ""},
		{"tcp", "127.0.0.1:0", "HTTP/1.1 400", "is --listen right?"},
		{"tcp", "127.0.0.1:0", "", "ends the connection without an answer"},
	}
	for _, c := range cases {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := probe(ctx, answering(t, c.network, c.address, c.answer))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s answering %q: %v, expected %q", c.network, c.answer, err, c.want)
		}
	}
}

func TestHealthSaysThatNothingListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	if err := probe(t.Context(), address); err == nil ||
		!strings.Contains(err.Error(), "nothing accepts connections") ||
		!strings.Contains(fault.HintOf(err), "--listen") {
		t.Errorf("%v (hint %q)", err, fault.HintOf(err))
	}
}

func TestAnyInterfaceIsAskedOnTheLoopback(t *testing.T) {
	for listen, want := range map[string]string{
		":6432": "127.0.0.1:6432", "0.0.0.0:6432": "127.0.0.1:6432", "[::]:6432": "127.0.0.1:6432",
		"10.1.2.3:6432": "10.1.2.3:6432", "/run/.s.PGSQL.6432": "/run/.s.PGSQL.6432",
	} {
		if _, got, err := config.Dialable("listen", listen); got != want || err != nil {
			t.Errorf("%s is asked on %s (%v), expected %s", listen, got, err, want)
		}
	}
}
