package idserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/generator"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/wire"
)

// counter gives the numbers from 1 on, or an error if it has one.
type counter struct {
	last  atomic.Int64
	fails atomic.Pointer[error]
	most  int // in one run; no limit if zero
	calls atomic.Int64
	peak  atomic.Int64 // the largest request so far
}

func (c *counter) TryNextN(n int) (first int64, count int, err error) {
	c.calls.Add(1)
	for peak := c.peak.Load(); int64(n) > peak && !c.peak.CompareAndSwap(peak, int64(n)); peak = c.peak.Load() {
	}
	if e := c.fails.Load(); e != nil {
		return 0, 0, *e
	}
	if c.most > 0 {
		n = min(n, c.most)
	}
	return c.last.Add(int64(n)) - int64(n) + 1, n, nil
}

func (c *counter) NextN(_ context.Context, n int) (int64, int, error) { return c.TryNextN(n) }

func (c *counter) fail(err error) { c.fails.Store(&err) }

func realGenerator(t testing.TB) *generator.Generator {
	start := time.Now()
	layout := generator.DefaultLayout()
	g, err := generator.New(generator.Settings{
		Layout: layout, Now: func() int64 { return 1 + int64(time.Since(start)/time.Millisecond) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(1, 0, layout.MaxTick()); err != nil {
		t.Fatal(err)
	}
	return g
}

// tags gives numbers of the tag order.
type tags struct{ counter }

var errNoTag = errors.New("no such tag")

func (x *tags) TryNextN(tag []byte, n int) (int64, int, error) {
	if string(tag) != "order" {
		return 0, 0, errNoTag
	}
	return x.counter.TryNextN(n)
}

func (x *tags) NextN(_ context.Context, tag []byte, n int) (int64, int, error) {
	return x.TryNextN(tag, n)
}

var real = map[string]string{
	"server_version": "15.18 (Debian)", "server_encoding": "UTF8", "client_encoding": "UTF8",
	"application_name": "", "DateStyle": "ISO, MDY", "TimeZone": "Etc/UTC", "IntervalStyle": "postgres",
	"integer_datetimes": "on", "standard_conforming_strings": "on", "is_superuser": "on",
	"session_authorization": "postgres", "default_transaction_read_only": "off", "in_hot_standby": "off",
}

func testServer(t testing.TB, ids draw.Source) *Server {
	t.Helper()
	v, err := New(Settings{
		Database: "pgflurry", IDs: draw.New(ids, nil), Segments: &tags{}, Rules: Rules{Method: Trust},
		Unavailable: func(err error) fault.Error { return fault.New("57P03", "no ID: "+err.Error(), "Wait.") },
		Parameters:  func() map[string]string { return real },
		Console: map[string]Topic{
			"LEASE": {"which worker", func() Table { return Table{[]string{"worker"}, [][]string{{"7"}}} }},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// talk is a client of a running session.
type talk struct {
	t     testing.TB
	s     *session
	conn  net.Conn
	front *pgproto3.Frontend
	ended chan error
}

// sessionOn is a session that has logged in, on one end of a connection.
func sessionOn(v *Server, conn net.Conn, options ...wire.Parameter) (*session, error) {
	s := newSession(conn, &v.conditions, &v.source, v.buffers, slog.New(slog.DiscardHandler))
	s.user, s.pid, s.since = "ann", 4711, time.Unix(1, 0)
	s.hasSlot.Store(true)
	if err := v.begin(s, options); err != nil {
		return nil, err
	}
	s.appendParameters(nil, s.session.Parameters.Reported())
	return s, nil
}

// pair returns both ends of a connection that the kernel buffers.
func pair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func newTalk(t testing.TB, v *Server, options ...wire.Parameter) *talk {
	t.Helper()
	client, server := pair(t)
	s, err := sessionOn(v, server, options...)
	if err != nil {
		t.Fatal(err)
	}
	x := &talk{t: t, s: s, conn: client, front: pgproto3.NewFrontend(client, client), ended: make(chan error, 1)}
	go func() {
		err := s.run()
		var p fault.Error
		if errors.As(err, &p) {
			s.ToClient.Farewell(wire.AppendError(nil, "FATAL", p))
		}
		server.Close()
		x.ended <- err
	}()
	t.Cleanup(func() {
		client.Close()
		s.cancel()
	})
	_ = client.SetDeadline(time.Now().Add(20 * time.Second))
	return x
}

func (x *talk) send(messages ...pgproto3.FrontendMessage) {
	x.t.Helper()
	var b []byte
	for _, m := range messages {
		b = append(b, wire.Encoded(m)...)
	}
	x.write(b)
}

func (x *talk) write(b []byte) {
	x.t.Helper()
	if _, err := x.conn.Write(b); err != nil {
		x.t.Fatal(err)
	}
}

// hear reads messages, as short texts, until it has read as many of each kind as until has.
func (x *talk) hear(until string) string {
	x.t.Helper()
	var heard []string
	for {
		m, err := x.front.Receive()
		if err != nil {
			return strings.Join(append(heard, "end"), " ")
		}
		line := text(m)
		heard = append(heard, line)
		if strings.HasPrefix(line, until) {
			return strings.Join(heard, " ")
		}
	}
}

// query sends a Query and reads all of its replies.
func (x *talk) query(sql string) string {
	x.t.Helper()
	x.send(&pgproto3.Query{String: sql})
	return x.hear("Z")
}

// text is a message of a session in a few letters.
func text(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.ReadyForQuery:
		return "Z" + string(m.TxStatus)
	case *pgproto3.ErrorResponse:
		return m.Severity + ":" + m.Code
	case *pgproto3.NoticeResponse:
		return m.Severity + ":" + m.Code
	case *pgproto3.CommandComplete:
		return "[" + string(m.CommandTag) + "]"
	case *pgproto3.DataRow:
		var values []string
		for _, v := range m.Values {
			values = append(values, string(v))
		}
		return "(" + strings.Join(values, ",") + ")"
	case *pgproto3.RowDescription:
		var names []string
		for _, f := range m.Fields {
			names = append(names, string(f.Name))
		}
		return "<" + strings.Join(names, ",") + ">"
	case *pgproto3.ParameterStatus:
		return m.Name + "=" + m.Value
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("types", m.ParameterOIDs)
	case *pgproto3.ParseComplete:
		return "1"
	case *pgproto3.BindComplete:
		return "2"
	case *pgproto3.CloseComplete:
		return "3"
	case *pgproto3.NoData:
		return "n"
	case *pgproto3.PortalSuspended:
		return "s"
	case *pgproto3.EmptyQueryResponse:
		return "empty"
	}
	return fmt.Sprintf("%T", m)
}

// says fails the test unless the session sent what the test expects.
func (x *talk) says(heard, expected string) {
	x.t.Helper()
	if heard != expected {
		x.t.Errorf("heard    %s\nexpected %s", heard, expected)
	}
}
