package idserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/state"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
)

// scripted is a connection whose client sends some bytes, in pieces, and leaves.
type scripted struct {
	net.Conn
	says  []byte
	piece int
	heard bytes.Buffer
}

func (c *scripted) Read(b []byte) (int, error) {
	if len(c.says) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.says[:min(c.piece, len(c.says))])
	c.says = c.says[n:]
	return n, nil
}

func (c *scripted) Write(b []byte) (int, error)    { return c.heard.Write(b) }
func (*scripted) SetReadDeadline(time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(time.Time) error { return nil }
func encoded(messages ...pgproto3.FrontendMessage) (b []byte) {
	for _, m := range messages {
		b = append(b, wire.Encoded(m)...)
	}
	return b
}

// asked counts the messages up to the end of a session: those that may have a ReadyForQuery, and those that must.
func asked(b []byte) (may, must int) {
	for len(b) >= frame.HeaderSize {
		size := uint64(binary.BigEndian.Uint32(b[1:])) + 1
		known := strings.IndexByte("QPBDECFHSdcf", b[0]) >= 0
		if size < frame.HeaderSize || uint64(len(b)) < size || !known {
			break
		}
		switch b[0] {
		case wire.FrontendSync:
			if size > frame.BufferSize {
				return may, must
			}
			must++
			may++
		case wire.FrontendQuery, wire.FrontendFunctionCall:
			may++
		case wire.FrontendFlush, wire.FrontendCopyDone:
			if size > frame.BufferSize {
				return may, must
			}
		}
		b = b[size:]
	}
	return may, must
}

// readies counts the ReadyForQuerys in what was heard. That must be whole messages, with a FATAL only at the end.
func readies(t *testing.T, heard []byte) (n int) {
	t.Helper()
	for len(heard) > 0 {
		if len(heard) < frame.HeaderSize || len(heard) < int(binary.BigEndian.Uint32(heard[1:]))+1 {
			t.Fatalf("half a message: %q", heard)
		}
		size := int(binary.BigEndian.Uint32(heard[1:])) + 1
		if heard[0] == wire.BackendReadyForQuery {
			n++
		}
		heard = heard[size:]
	}
	return n
}

// FuzzSession lets a client that has logged in send anything. The session ends with its client, and does not fail. Each
// Sync has one ReadyForQuery, and each Query at most one. What is kept never exceeds its limit, and all of it is given
// back.
func FuzzSession(f *testing.F) {
	for name, messages := range hotPaths {
		f.Add(encoded(append(prepares(), messages...)...), len(name))
	}
	for _, sql := range []string{
		"BEGIN; SET a.b = 'c'; SAVEPOINT x; SET LOCAL a.b = 'd'; ROLLBACK TO x; RELEASE x; COMMIT; SHOW ALL",
		"BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT next_snowflake(); FETCH c; CLOSE ALL; SELEC",
		"PREPARE p AS SELECT next_segment($1); EXECUTE p('order'); DEALLOCATE ALL; DISCARD ALL; SHOW HELP",
		"SELECT set_config('application_name', 'x', true), version(); SHOW SESSIONS",
	} {
		f.Add(encoded(&pgproto3.Query{String: sql}, syncs, parse("s", sql), bind("p", "s"), execute("p", 1), syncs), 3)
	}
	f.Add(encoded(parse("", "SELECT * FROM next_snowflakes($1)"), bind("p", "", "3"), execute("p", 1), execute("p", 9),
		describe('P', "p"), closes('P', "p"), flushes, syncs, &pgproto3.CopyDone{}, &pgproto3.FunctionCall{}), 100)
	f.Add([]byte("Q\x00\x00\xff\xffSELECT"), 9)
	f.Add([]byte("S\x00\x00\x00\x05!"), 9)
	server := testServer(f, &counter{})
	f.Fuzz(func(t *testing.T, says []byte, piece int) {
		conn := &scripted{says: says, piece: 1 + max(piece, -(piece+1))%2000}
		s, err := sessionOn(server, conn)
		if err != nil {
			t.Fatal(err)
		}
		defer s.cancel()
		err = s.run()
		var sent fault.Error
		if err != errGoodbye && !errors.Is(err, io.EOF) && !errors.As(err, &sent) {
			t.Fatalf("the session ended with %v", err)
		}
		may, must := asked(says)
		if n := readies(t, conn.heard.Bytes()); n > may || n < must {
			t.Fatalf("%d ReadyForQuery; expected %d to %d", n, must, may)
		}
		if s.session.Kept.Bytes() > state.MaxKept {
			t.Fatalf("%d bytes are kept; at most %d may be", s.session.Kept.Bytes(), state.MaxKept)
		}
		s.forgetAll(t)
	})
}

// forgetAll drops all that a client made, and checks that nothing is left.
func (s *session) forgetAll(t *testing.T) {
	t.Helper()
	of := &s.session
	of.Transaction.Rollback()
	of.Transaction.Start()
	of.Objects.CloseAll(nil)
	of.Objects.DeallocateAll()
	of.Objects.DropUnnamed()
	if err := of.Transaction.ResetAll(); err != nil {
		t.Fatalf("a session that is full cannot be reset: %v", err)
	}
	of.Transaction.Commit()
	if n := of.Kept.Bytes(); n != 0 {
		t.Fatalf("%d bytes are kept of nothing", n)
	}
}
