package idserver

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// endless is a connection that repeats the same bytes and swallows what is written.
type endless struct {
	net.Conn
	bytes   []byte
	at      int
	writes  int
	written bytes.Buffer
	keeps   bool
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.bytes[e.at:])
	e.at = (e.at + n) % len(e.bytes)
	return n, nil
}

func (e *endless) Write(b []byte) (int, error) {
	e.writes++
	if e.keeps {
		e.written.Write(b)
	}
	return len(b), nil
}

// quietSession is a session without its goroutine.
func quietSession(t testing.TB, messages ...pgproto3.FrontendMessage) (*session, *endless) {
	t.Helper()
	conn := &endless{}
	for _, m := range messages {
		conn.bytes = append(conn.bytes, wire.Encoded(m)...)
	}
	s, err := sessionOn(testServer(t, &counter{}), conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cancel)
	return s, conn
}

// once handles everything that the client sends in one go. It allocates nothing, so only one goroutine at a time may
// use it.
func (s *session) once(t testing.TB) {
	onceSession, onceRead = s, false
	if refused, gone := s.in.Each(takeOnce); refused != errOnce || gone != nil {
		t.Fatal(refused, gone)
	}
}

var (
	errOnce     = errors.New("something was read")
	onceSession *session
	onceRead    bool
)

func takeOnce() error {
	if err := onceSession.handle(); err != nil {
		return err
	}
	if onceRead {
		return errOnce
	}
	onceRead = true
	return nil
}

// before sends messages to a session before the test counts its allocations.
func (s *session) before(t testing.TB, messages ...pgproto3.FrontendMessage) {
	t.Helper()
	conn := s.conn.(*endless)
	then := conn.bytes
	conn.bytes = nil
	for _, m := range messages {
		conn.bytes = append(conn.bytes, wire.Encoded(m)...)
	}
	s.once(t)
	conn.bytes, conn.at = then, 0
}

var hotPaths = map[string]said{
	"simple query":               {&pgproto3.Query{String: "SELECT next_snowflake()"}},
	"bind of what was prepared":  {bind("", "s"), execute("", 0), syncs},
	"described":                  {bind("", "s"), describe('P', ""), execute("", 0), syncs},
	"unnamed statement":          {parse("", "SELECT next_snowflake()"), bind("", ""), execute("", 0), syncs},
	"a thousand":                 {&pgproto3.Query{String: "SELECT * FROM next_snowflakes(1000)"}},
	"number of a tag":            {&pgproto3.Query{String: "SELECT next_segment('order')"}},
	"thousand times a statement": {bind("", "n"), execute("", 0), syncs},
}

func prepares() said {
	return said{parse("s", "SELECT next_snowflake()"), parse("n", "SELECT * FROM next_snowflakes(1000)"), syncs}
}

func TestAnsweringAllocatesNothing(t *testing.T) {
	for name, messages := range hotPaths {
		t.Run(name, func(t *testing.T) {
			s, _ := quietSession(t, messages...)
			s.before(t, prepares()...)
			s.once(t)
			if s.counts.Answers[statement.FormSnowflake].Load()+s.counts.Answers[statement.FormSnowflakes].Load()+
				s.counts.Answers[statement.FormSegment].Load() == 0 {
				t.Fatal("nothing was answered")
			}
			if n := testing.AllocsPerRun(1000, func() { s.once(t) }); n > 0 {
				t.Errorf("%v allocations per answer; expected none", n)
			}
		})
	}
}

func TestTheRepliesToAllThatWasReadAreOneWrite(t *testing.T) {
	var batches []pgproto3.FrontendMessage
	for range 50 {
		batches = append(batches, bind("", "s"), execute("", 0), syncs)
	}
	s, conn := quietSession(t, batches...)
	s.before(t, prepares()...)
	conn.writes = 0
	s.once(t)
	if n := s.counts.Answers[statement.FormSnowflake].Load(); conn.writes != 1 || n != 50 {
		t.Errorf("%d answers in %d writes; expected 50 in one", n, conn.writes)
	}
}

func BenchmarkAnswer(b *testing.B) {
	for name, messages := range hotPaths {
		b.Run(name, func(b *testing.B) {
			s, _ := quietSession(b, messages...)
			s.before(b, prepares()...)
			b.ReportAllocs()
			for b.Loop() {
				s.once(b)
			}
		})
	}
}
