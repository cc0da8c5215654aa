package tls

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgflurry/proxy"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// BenchmarkIdleSession measures a session that has run one statement and waits: the proxy's resident memory in bytes.
// The upstream is scripted, because PostgreSQL would not hold as many sessions.
func BenchmarkIdleSession(b *testing.B) {
	const sessions = 2000
	ca := authority.New(b, "CA")
	pair := ca.Issue(b, local)
	trusts := &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost"}
	dir := b.TempDir()
	cert, key := pair.Write(b, dir, "proxy")
	for _, c := range []struct {
		name             string
		client, upstream bool
	}{
		{"plain to plain", false, false},
		{"TLS to plain", true, false},
		{"plain to TLS", false, true},
		{"TLS to TLS", true, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			flags := []string{
				"serve", "--listen", "127.0.0.1:0", "--upstream", scripted(b, pair, c.upstream), "--lease-database",
				"postgres://u@127.0.0.1:1/d",
			}
			if c.client {
				flags = append(flags, "--client-tls", "require", "--client-tls-cert", cert, "--client-tls-key", key)
			}
			if c.upstream {
				flags = append(flags, "--upstream-tls", "verify-full",
					"--upstream-tls-ca", authority.Write(b, dir, "ca.pem", ca.PEM))
			}
			for b.Loop() {
				p := program.Start(b, flags...)
				_, address, _ := strings.Cut(p.Line("msg=listening"), "address=")
				address, _, _ = strings.Cut(address, " ")
				before := resident(b, p.PID())
				open := make([]net.Conn, sessions)
				for i := range open {
					open[i] = converse(b, address, c.client, trusts)
				}
				b.ReportMetric(float64(resident(b, p.PID())-before)/sessions, "B/session")
				for _, conn := range open {
					conn.Close()
				}
			}
		})
	}
}

// BenchmarkAnswer measures what TLS costs a single ID from memory.
func BenchmarkAnswer(b *testing.B) {
	ca := authority.New(b, "CA")
	pair := ca.Issue(b, local)
	trusts := &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost"}
	ask := []byte("Q\x00\x00\x00\x1cSELECT next_snowflake()\x00")
	for _, secure := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "TLS"}[secure], func(b *testing.B) {
			at := inFront(b, "postgres://"+scripted(b, pair, false), func(s *proxy.Settings) {
				s.ClientTLS = offer(b, pair)
			})
			conn := converse(b, server.Parse(b, at).Host, secure, trusts)
			defer conn.Close()
			got := make([]byte, 4<<10)
			for b.Loop() {
				if _, err := conn.Write(ask); err != nil {
					b.Fatal(err)
				}
				if n, err := conn.Read(got); err != nil || got[n-6] != 'Z' {
					b.Fatalf("%q, %v", got[:n], err)
				}
			}
		})
	}
}

var (
	hello    = []byte("\x00\x00\x00\x10\x00\x03\x00\x00user\x00u\x00\x00")
	greeting = []byte("R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I")
	question = []byte("Q\x00\x00\x00\x0dSELECT 1\x00")
	answer   = append(bytes.Repeat([]byte("D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x011"), 20), "Z\x00\x00\x00\x05I"...)
)

// converse opens a session and runs one statement.
func converse(b *testing.B, address string, secure bool, trusts *tls.Config) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	if secure {
		config := trusts.Clone()
		config.NextProtos = []string{"postgresql"}
		conn = tls.Client(conn, config)
	}
	for _, say := range []struct{ it, then []byte }{{hello, greeting}, {question, answer}} {
		if _, err := conn.Write(say.it); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len(say.then))); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

// scripted starts an upstream that lets every client in and gives the same answer to everything.
func scripted(b *testing.B, pair authority.Pair, secure bool) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	config := &tls.Config{Certificates: []tls.Certificate{pair.TLS}}
	serve := func(conn net.Conn) {
		defer conn.Close()
		if secure {
			if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
				return
			}
			if _, err := conn.Write([]byte{'S'}); err != nil {
				return
			}
			conn = tls.Server(conn, config)
		}
		in := bufio.NewReaderSize(conn, 64)
		if _, err := io.ReadFull(in, make([]byte, len(hello))); err != nil {
			return
		}
		for say := greeting; ; say = answer {
			if _, err := conn.Write(say); err != nil {
				return
			}
			head := make([]byte, 5)
			if _, err := io.ReadFull(in, head); err != nil {
				return
			}
			if _, err := in.Discard(int(binary.BigEndian.Uint32(head[1:])) - 4); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return listener.Addr().String()
}

// resident returns the resident memory of a process, in bytes.
func resident(b *testing.B, pid int) int {
	b.Helper()
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "VmRSS:")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		b.Fatal("/proc tells no VmRSS")
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes << 10
}
