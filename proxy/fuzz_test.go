package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

// memory is a connection whose other side has sent everything already.
type memory struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (m *memory) Read(b []byte) (int, error)      { return m.in.Read(b) }
func (m *memory) Write(b []byte) (int, error)     { return m.out.Write(b) }
func (m *memory) SetReadDeadline(time.Time) error { return nil }

func FuzzOpeningReadsItsPacketsAndNothingElse(f *testing.F) {
	f.Add(startup("user", "u", "database", "d"))
	f.Add(append([]byte{0, 0, 0, 8, 4, 210, 22, 47}, startup("user", "u", "replication", "true")...))
	f.Add([]byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2})
	f.Add([]byte{0x16, 3, 1, 2, 0})
	f.Add([]byte{0, 0, 0, 9, 0, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, stream []byte) {
		rest := bytes.NewReader(append(bytes.Clone(stream), "surplus"...))
		// Nothing comes together with another byte.
		_, o, err := readOpening(&memory{in: iotest.OneByteReader(rest)}, tlsOffer{})
		if err != nil {
			return
		}
		left := make([]byte, rest.Len())
		rest.Read(left)
		at := len(stream) + len("surplus") - len(left) - len(o.raw)
		if !bytes.Equal(o.raw, append(bytes.Clone(stream), "surplus"...)[at:at+len(o.raw)]) {
			t.Fatalf("the packet %q is not what came", o.raw)
		}
		if o.cancel || o.refused || len(o.raw) == 9 {
			return // the other codec wants a parameter; PostgreSQL reports a missing one in its own words
		}
		var m pgproto3.StartupMessage
		body := append([]byte{0, 3, 0, 0}, o.raw[8:]...) // the other codec knows no other minor version
		if err := m.Decode(body); err != nil {
			t.Fatalf("accepted %q, which the other codec refuses: %v", o.raw, err)
		}
		database := m.Parameters["database"]
		if database == "" {
			database = m.Parameters["user"]
		}
		if o.user != m.Parameters["user"] || o.database != database {
			t.Fatalf("read user %q and database %q; the other codec reads %v", o.user, o.database, m.Parameters)
		}
	})
}

func FuzzBindIsReadAsTheOtherCodecReadsIt(f *testing.F) {
	f.Add(bindIt[frame.HeaderSize:], false, false)
	binaryCount := []byte{0, 1, 0, 1, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 1}
	f.Add(join(z(""), z("s"), binaryCount), true, false)
	beforeTag := []byte{0, 1, 0, 1, 0, 1, 0, 0, 0, 5}
	f.Add(join(z(""), z("s"), beforeTag, []byte("order"), []byte{0, 0}), false, true)
	tagAndCount := []byte{0, 2, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 'x', 0, 0, 0, 1, '5', 0, 0}
	f.Add(join(z(""), z("s"), tagAndCount), true, true)
	f.Fuzz(func(t *testing.T, body []byte, count, named bool) {
		_, rest := cutName(body)
		_, rest = cutName(rest)
		form := &statement.Form{Columns: make([]statement.Column, 2), Rows: 3, CountParam: count}
		if named {
			form.Tag = &statement.Tag{Param: true}
		}
		b, ok := readBind(rest, form, wire.OIDInt8, nil)
		if !ok {
			return
		}
		var m pgproto3.Bind
		if err := m.Decode(body); err != nil {
			t.Fatalf("accepted a Bind the other codec refuses: %v", err)
		}
		if len(m.ResultFormatCodes) != len(b.formats) || len(m.Parameters) != form.Params() || b.rows < 1 ||
			b.rows*2 > statement.MaxIDs {
			t.Fatalf("read %+v of %+v", b, m)
		}
		if named && !bytes.Equal(b.tag, m.Parameters[0]) || !named && b.tag != nil {
			t.Fatalf("read the tag %q of %+v", b.tag, m)
		}
		for i, code := range m.ResultFormatCodes {
			if uint16(code) != b.formats[i] {
				t.Fatalf("formats %v of %+v", b.formats, m)
			}
		}
	})
}
