package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"pgflurry/draw"
	"pgflurry/proxy/admission"
	"pgflurry/proxy/conversation"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

// endless is a connection that repeats the same bytes and swallows what is written.
type endless struct {
	net.Conn
	bytes  []byte
	at     int
	writes int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.bytes[e.at:])
	e.at = (e.at + n) % len(e.bytes)
	return n, nil
}

func (e *endless) Write(b []byte) (int, error) {
	e.writes++
	return len(b), nil
}

// quietSession is a session at its first ReadyForQuery, without its goroutines.
func quietSession(fromClient, fromUpstream []byte) *session {
	all := &Permission{}
	all.Set(statement.AllNames)
	client, upstream := &endless{bytes: fromClient}, &endless{bytes: fromUpstream}
	s := &session{
		proxy: &Proxy{
			sources: sources{ids: draw.New(&counter{}, nil), buffers: frame.NewBuffers()},
			limits:  admission.New(new(sync.WaitGroup)),
		},
		client: client, toClient: frame.NewWriter(client),
		upstream: &upstreamConn{upstream, upstream, new(atomic.Int64)}, permission: all,
		fromClient:   frame.NewInbox(client, frame.NewBuffers()),
		fromUpstream: frame.NewInbox(upstream, frame.NewBuffers()), ready: true,
	}
	s.proxy.sources.counters = &s.proxy.counters
	s.answers = answers{sources: &s.proxy.sources, segments: &tags{}, toClient: s.toClient}
	s.conversation = conversation.New(conversation.Session{Allows: s.mayAnswer}, conversation.NewBatches())
	s.hears(wire.BackendReadyForQuery, wire.StatusIdle)
	return s
}

// hears lets upstream say a message that is relayed.
func (s *session) hears(kind byte, body ...byte) {
	if relay, err := s.conversation.TakeReply(kind, body); !relay || err != nil {
		panic("a reply that is not relayed")
	}
	s.conversation.Relayed()
}

// prepares lets the session know a statement of ours.
func (s *session) prepares(name string) {
	for _, m := range [][]byte{parse(name, ourText), syncIt} {
		if _, err := s.conversation.Forwards(m[0], m[frame.HeaderSize:], true); err != nil {
			panic(err)
		}
	}
	s.hears(wire.BackendParseComplete)
	s.hears(wire.BackendReadyForQuery, wire.StatusIdle)
}

// readOnce reads once. It allocates nothing, so only one goroutine at a time may use it.
func readOnce(in *frame.Inbox) error {
	if refused, gone := in.Each(waitOnce); refused != errRead {
		return gone
	}
	return nil
}

var (
	errRead = errors.New("something was read")
	waiting bool
)

func waitOnce() error {
	if waiting = !waiting; waiting {
		return nil
	}
	return errRead
}

// once reads and handles everything that the client sends in one go.
func (s *session) once(t testing.TB) {
	in := s.fromClient
	if err := readOnce(in); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !f.Whole {
			break
		}
		if err := s.takeMessage(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
}

func TestAnsweringAllocatesNothing(t *testing.T) {
	for name, request := range map[string][]byte{
		"simple query":              ourQuery,
		"unnamed request":           join(ourParse, bindIt, describeIt, executeAll, syncIt),
		"bind of what was prepared": join(bindIt, describeIt, executeAll, syncIt),
		"the same in binary":        join(bindBinary, describeIt, executeAll, syncIt),
		"fifty in a pipeline":       join(bytes.Repeat(join(bindIt, describeIt, executeAll), 50), syncIt),
		"fifty by turns": join(
			bytes.Repeat(join(bindIt, describeIt, executeAll, bindBinary, executeAll), 25), syncIt),
		"a thousand":      query("SELECT * FROM next_snowflakes(1000)"),
		"series":          query("SELECT next_snowflake() FROM generate_series(1, 100)"),
		"number of a tag": query("SELECT next_segment('order')"),
		"number of a bound tag": join(parse("", "SELECT next_segment($1)"), bindTag("order"), describeIt,
			executeAll, syncIt),
	} {
		t.Run(name, func(t *testing.T) {
			s := quietSession(request, nil)
			s.prepares("")
			s.once(t)
			if s.answers.counts.all() == 0 {
				t.Fatal("nothing was answered")
			}
			if n := testing.AllocsPerRun(1000, func() { s.once(t) }); n != 0 {
				t.Errorf("%v allocations per answer; expected none", n)
			}
		})
	}
}

func TestTheRepliesToAllThatWasReadAreOneWrite(t *testing.T) {
	for name, request := range map[string][]byte{
		"simple queries": bytes.Repeat(ourQuery, 50),
		"pipeline":       join(bytes.Repeat(join(ourParse, bindIt, describeIt, executeAll), 50), syncIt),
		"batches":        bytes.Repeat(join(ourParse, bindIt, executeAll, syncIt), 50),
	} {
		t.Run(name, func(t *testing.T) {
			s := quietSession(request, nil)
			s.once(t)
			if writes := s.client.(*endless).writes; writes != 1 || s.answers.counts.all() != 50 {
				t.Errorf("%d answers in %d writes; expected 50 in one", s.answers.counts.all(), writes)
			}
			if writes := s.upstream.Conn.(*endless).writes; writes != 0 {
				t.Errorf("%d writes to upstream; expected none", writes)
			}
		})
	}
}

func TestForwardingAllocatesNothing(t *testing.T) {
	for name, c := range map[string]struct{ request, reply []byte }{
		"simple query": {query("SELECT 1"), join(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))},
		"unnamed request": {
			join(parse("", "SELECT 1"), bindIt, describeIt, executeAll, syncIt),
			join(parseDone, bindDone, ourRow, dataRow("1"), complete("SELECT 1"), ready('I')),
		},
		"named bind": {
			join(bind("", "s"), describeIt, executeAll, syncIt),
			join(bindDone, ourRow, dataRow("1"), complete("SELECT 1"), ready('I')),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := quietSession(c.request, c.reply)
			round := func() {
				s.once(t)
				if err := s.replies(); err != nil {
					t.Fatal(err)
				}
			}
			round()
			if n := testing.AllocsPerRun(1000, round); n != 0 {
				t.Errorf("%v allocations per statement; expected none", n)
			}
			if s.conversation.Owed() != 0 || s.answers.counts.all() != 0 {
				t.Errorf("%d replies are owed and %d statements were answered; expected that all were forwarded",
					s.conversation.Owed(), s.answers.counts.all())
			}
		})
	}
}

// replies relays what upstream sends in one go.
func (s *session) replies() error {
	in := s.fromUpstream
	if err := readOnce(in); err != nil {
		return err
	}
	for {
		f, err := in.Next()
		if err != nil {
			return err
		}
		if !f.Whole {
			return s.flushReplies()
		}
		relay, err := s.takeReply(f)
		if err != nil || !relay {
			return fmt.Errorf("%q is not relayed: %w", f.Kind, err)
		}
		in.Pass(f.Size)
	}
}

func BenchmarkAnswer(b *testing.B) {
	var fifty []byte
	var names []string
	for i := range 50 {
		name := fmt.Sprintf("P0_%d", i+1)
		names = append(names, name)
		fifty = append(fifty, join(bind("", name), describeIt, executeAll)...)
	}
	for name, request := range map[string][]byte{
		"simple":                       ourQuery,
		"extended":                     join(ourParse, bindIt, describeIt, executeAll, syncIt),
		"fifty the same in a pipeline": join(bytes.Repeat(join(bind("", "P0_1"), describeIt, executeAll), 50), syncIt),
		"fifty in a pipeline":          join(fifty, syncIt),
	} {
		b.Run(name, func(b *testing.B) {
			s := quietSession(request, nil)
			for _, name := range names {
				s.prepares(name)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.once(b)
			}
		})
	}
}

func BenchmarkRelayRows(b *testing.B) {
	rows := make([]byte, 0, 1<<20)
	for range 10_000 {
		rows = append(rows, dataRow("12345678901234567890")...)
	}
	s := quietSession(nil, rows)
	b.SetBytes(int64(len(rows)))
	for b.Loop() {
		for relayed := 0; relayed < len(rows); relayed += frame.BufferSize {
			if err := s.replies(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
