package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
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
		_, o, err := readStartup(&memory{in: iotest.OneByteReader(rest)}, tlsOffer{})
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
		user := m.Parameters["user"]
		if o.User != user[:min(len(user), 63)] || o.Database != database[:min(len(database), 63)] {
			t.Fatalf("read user %q and database %q; the other codec reads %v", o.User, o.Database, m.Parameters)
		}
	})
}
