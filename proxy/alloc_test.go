package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"pgflurry/internal/draw"
	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
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

// quietSession is a session at its first ReadyForQuery, without its goroutines. proxy is what it has of one.
func quietSession(fromClient, fromUpstream []byte) (s *session, proxy *Proxy) {
	all := &statement.Permission{}
	all.Set(statement.AllNames)
	client, upstream := &endless{bytes: fromClient}, &endless{bytes: fromUpstream}
	proxy = &Proxy{
		sources: sources{ids: draw.New(&counter{}, nil), patience: patience, buffers: frame.NewBuffers()},
		limits:  admission.New(new(sync.WaitGroup), 0, 0),
	}
	proxy.sources.counters = &proxy.counters
	s = &session{pair: pair{
		client: client, toClient: frame.NewWriter(client),
		upstream: &upstreamConn{link: link{Conn: upstream}, to: upstream},
	}}
	s.requests = requests{
		pair: &s.pair, registry: &proxy.registry, fromClient: frame.NewInbox(client, frame.NewBuffers()),
		answers: answers{
			sources: &proxy.sources, permission: all, segments: &tags{}, counts: &s.counts,
			Replies: frame.Replies{Buffers: proxy.sources.buffers, ToClient: s.toClient},
		},
	}
	s.replies = replies{
		pair: &s.pair, registry: &proxy.registry, counters: &proxy.counters,
		fromUpstream: frame.NewInbox(upstream, frame.NewBuffers()), ready: true,
	}
	s.conversation = conversation.New(
		conversation.Session{Allows: s.requests.answers.may}, conversation.NewBatches())
	s.hears(wire.BackendReadyForQuery, wire.StatusIdle)
	return s, proxy
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
	in := s.requests.fromClient
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
		if err := s.requests.takeMessage(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.requests.flush(); err != nil {
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
			s, _ := quietSession(request, nil)
			s.prepares("")
			s.once(t)
			if s.counts.All() == 0 {
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
			s, _ := quietSession(request, nil)
			s.once(t)
			if writes := s.client.(*endless).writes; writes != 1 || s.counts.All() != 50 {
				t.Errorf("%d answers in %d writes; expected 50 in one", s.counts.All(), writes)
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
			s, _ := quietSession(c.request, c.reply)
			round := func() {
				s.once(t)
				if err := s.repliesOnce(); err != nil {
					t.Fatal(err)
				}
			}
			round()
			if n := testing.AllocsPerRun(1000, round); n != 0 {
				t.Errorf("%v allocations per statement; expected none", n)
			}
			if s.conversation.Owed() != 0 || s.counts.All() != 0 {
				t.Errorf("%d replies are owed and %d statements were answered; expected that all were forwarded",
					s.conversation.Owed(), s.counts.All())
			}
		})
	}
}

// repliesOnce relays what upstream sends in one go.
func (s *session) repliesOnce() error {
	in := s.replies.fromUpstream
	if err := readOnce(in); err != nil {
		return err
	}
	for {
		f, err := in.Next()
		if err != nil {
			return err
		}
		if !f.Whole {
			return s.replies.flushReplies()
		}
		relay, err := s.replies.takeReply(f)
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
			s, _ := quietSession(request, nil)
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
	s, _ := quietSession(nil, rows)
	b.SetBytes(int64(len(rows)))
	for b.Loop() {
		for relayed := 0; relayed < len(rows); relayed += frame.BufferSize {
			if err := s.repliesOnce(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
