package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pgflurry/internal/draw"
	"pgflurry/proxy/statement"
	"pgflurry/tests/support/packet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a proxy between a client and an upstream. The test plays both, byte by byte.
type rig struct {
	t        *testing.T
	proxy    *Proxy
	client   net.Conn
	upstream net.Conn
	arrivals chan net.Conn // connections that the proxy makes to upstream
	address  string
}

// giveUp is how long a test waits for missing bytes before it fails.
const giveUp = 10 * time.Second

// counter gives 1, 2, 3, …; fail makes it give nothing.
type counter struct {
	last atomic.Int64
	fail atomic.Bool
}

func (c *counter) TryNextN(n int) (int64, int, error) {
	if c.fail.Load() {
		return 0, 0, errors.New("no grant")
	}
	return c.last.Add(int64(n)) - int64(n) + 1, n, nil
}

func (c *counter) NextN(_ context.Context, n int) (int64, int, error) { return c.TryNextN(n) }

// newRig starts a session and brings it to its first ReadyForQuery.
func newRig(t *testing.T, ids draw.Source) *rig {
	t.Helper()
	r := newRigBeforeStartup(t, ids)
	r.upstream = r.starts(r.client)
	return r
}

// starts brings a client to its first ReadyForQuery.
func (r *rig) starts(client net.Conn) (upstream net.Conn) {
	r.t.Helper()
	hello, welcome := [][]byte{startup("user", "u", "database", "d")}, [][]byte{authOK, ready('I')}
	r.write(client, hello)
	upstream = <-r.arrivals
	r.expect(upstream, "upstream", hello)
	r.write(upstream, welcome)
	r.expect(client, "client", welcome)
	return upstream
}

func newRigBeforeStartup(t *testing.T, ids draw.Source, change ...func(*Settings)) *rig {
	t.Helper()
	back := listen(t)
	front := listen(t)
	r := &rig{t: t, arrivals: make(chan net.Conn, 8), address: front.Addr().String()}
	go func() {
		var kept []net.Conn // Go closes a connection that nobody keeps
		defer func() {
			for _, c := range kept {
				c.Close()
			}
		}()
		for {
			c, err := back.Accept()
			if err != nil {
				return
			}
			kept = append(kept, c)
			r.arrivals <- c
		}
	}()
	all := &statement.Permission{}
	all.Set(statement.AllNames)
	settings := Settings{
		Upstream: []Host{{Network: "tcp", Address: back.Addr().String()}}, IDs: draw.New(ids, nil),
		Segments: func(database string) Segments {
			if database == "d" {
				return &tags{}
			}
			return nil
		},
		Permission: func(database string) *statement.Permission {
			if database == "d" {
				return all
			}
			return nil
		},
	}
	for _, f := range change {
		f(&settings)
	}
	var err error
	if r.proxy, err = New(settings); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.proxy.Serve(front) }()
	r.client = r.dial()
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		r.client.Close()
		if r.upstream != nil {
			r.upstream.Close()
		}
		r.proxy.Drain(over)
		front.Close()
		back.Close()
		<-served // so that no connection is accepted after the wait
		r.proxy.Wait()
	})
	return r
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// send plays the client, reply plays upstream.
func (r *rig) send(parts ...[]byte)  { r.t.Helper(); r.write(r.client, parts) }
func (r *rig) reply(parts ...[]byte) { r.t.Helper(); r.write(r.upstream, parts) }

func (r *rig) write(c net.Conn, parts [][]byte) {
	r.t.Helper()
	if _, err := c.Write(join(parts...)); err != nil {
		r.t.Fatal(err)
	}
}

// toClient expects exactly these bytes next at the client, toUpstream at upstream.
func (r *rig) toClient(parts ...[]byte)   { r.t.Helper(); r.expect(r.client, "client", parts) }
func (r *rig) toUpstream(parts ...[]byte) { r.t.Helper(); r.expect(r.upstream, "upstream", parts) }

func (r *rig) expect(c net.Conn, who string, parts [][]byte) {
	r.t.Helper()
	want := join(parts...)
	got := make([]byte, len(want))
	c.SetReadDeadline(time.Now().Add(giveUp))
	n, err := io.ReadFull(c, got)
	if string(got[:n]) == string(want) {
		return
	}
	same := 0
	for same < n && got[same] == want[same] {
		same++
	}
	from := max(0, same-200)
	r.t.Fatalf("%s, from byte %d on, got %.600q (%v)\nexpected %.600q", who, from, got[from:n], err, want[from:])
}

// relays checks that the request reaches upstream, and the reply the client, without a change.
func (r *rig) relays(request, reply []byte) {
	r.t.Helper()
	r.send(request)
	r.toUpstream(request)
	r.reply(reply)
	r.toClient(reply)
}

// begins opens a transaction block.
func (r *rig) begins() {
	r.t.Helper()
	r.relays(query("BEGIN"), join(complete("BEGIN"), ready('T')))
}

// requestAnswered draws one ID by an unnamed request, from memory.
func (r *rig) requestAnswered(id string, status byte) {
	r.t.Helper()
	r.send(ourParse, bindIt, executeAll, syncIt)
	r.toClient(parseDone, bindDone, dataRow(id), complete("SELECT 1"), ready(status))
}

// rest reads until the connection ends.
func (r *rig) rest(c net.Conn) []byte {
	r.t.Helper()
	c.SetReadDeadline(time.Now().Add(giveUp))
	b, err := io.ReadAll(c)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		r.t.Fatalf("the connection did not end; got %q", b)
	}
	return b
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// message frames a body.
func message(kind byte, body ...[]byte) []byte {
	all := join(body...)
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(all)+4)), all...)
}

func startup(parameters ...string) []byte {
	return packet.Startup(3<<16, parameters...)
}

func z(text string) []byte { return append([]byte(text), 0) }

var (
	authOK     = message('R', []byte{0, 0, 0, 0})
	syncIt     = message('S')
	flushIt    = message('H')
	parseDone  = message('1')
	bindDone   = message('2')
	closeDone  = message('3')
	executeAll = message('E', z(""), []byte{0, 0, 0, 0})
	describeIt = message('D', []byte{'P', 0})
	bindIt     = bind("", "")
	bindBinary = message('B', z(""), z(""), []byte{0, 0, 0, 0, 0, 1, 0, 1})
	ourParse   = parse("", "SELECT next_snowflake()")
	ourQuery   = query("SELECT next_snowflake()")
	ourRow     = message('T', []byte{0, 1}, z("next_snowflake"),
		[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 8, 255, 255, 255, 255, 0, 0})
	theirFailure = message('E', z("SERROR"), z("VERROR"), z("C42703"), z("Mno"), []byte{0})
)

func query(text string) []byte       { return message('Q', z(text)) }
func parse(name, text string) []byte { return message('P', z(name), z(text), []byte{0, 0}) }
func bind(portal, name string) []byte {
	return message('B', z(portal), z(name), []byte{0, 0, 0, 0, 0, 0})
}
func ready(status byte) []byte   { return message('Z', []byte{status}) }
func complete(tag string) []byte { return message('C', z(tag)) }
func dataRow(value string) []byte {
	return message('D', []byte{0, 1, 0, 0, 0, byte(len(value))}, []byte(value))
}

// overUnix leads to an upstream by Unix socket, whose end the proxy sees however much of it is unread.
func overUnix(t *testing.T, arrivals chan<- net.Conn) func(*Settings) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "upstream")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			arrivals <- c
		}
	}()
	return func(s *Settings) { s.Upstream = []Host{{Network: "unix", Address: path}} }
}
