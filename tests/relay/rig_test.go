package relay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy"
	"pgflurry/tests/support/packet"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// patience limits every wait. Only a server that hangs comes near it.
const patience = 60 * time.Second

const ours = "SELECT next_snowflake()"

// through starts a proxy in front of url's server. It answers in every database. through returns url through the proxy.
func through(t testing.TB, direct string) (string, *proxy.Proxy) {
	t.Helper()
	u := server.Parse(t, direct)
	var p *proxy.Proxy
	u.Host, p = inFront(t, u.Host)
	return u.String(), p
}

// inFront starts a proxy in front of any upstream at host:port, and returns its address.
func inFront(t testing.TB, upstream string) (string, *proxy.Proxy) {
	t.Helper()
	return proxytest.Start(t, proxytest.Settings(upstream))
}

// raw is a connection that only knows frames.
type raw struct {
	t    testing.TB
	conn *net.TCPConn
	in   *bufio.Reader
	key  []byte // content of BackendKeyData
}

func dial(t testing.TB, address string) *raw {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &raw{t: t, conn: conn.(*net.TCPConn), in: bufio.NewReaderSize(conn, 64<<10)}
}

var hello = packet.Startup

const version30 = 3 << 16

// open opens a session of the superuser and reads up to its first ReadyForQuery.
func open(t testing.TB, address, database string, more ...string) *raw {
	t.Helper()
	r := dial(t, address)
	r.say(hello(version30, append([]string{"user", "postgres", "database", database}, more...)...))
	r.until('Z')
	return r
}

// openURL is open for the database of a URL.
func openURL(t testing.TB, at string) *raw {
	t.Helper()
	u := server.Parse(t, at)
	return open(t, u.Host, u.Path[1:])
}

func (r *raw) say(b []byte) {
	r.t.Helper()
	if _, err := r.conn.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

func query(sql string) []byte { return encode(&pgproto3.Query{String: sql}) }

func encode(messages ...pgproto3.FrontendMessage) (b []byte) {
	for _, m := range messages {
		var err error
		if b, err = m.Encode(b); err != nil {
			panic(err)
		}
	}
	return b
}

// frame reads one message.
func (r *raw) frame() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > 1<<30 {
		return head[0], nil, fmt.Errorf("frame %q of %d bytes", head[0], size)
	}
	body = make([]byte, size-4)
	if _, err = io.ReadFull(r.in, body); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if head[0] == 'K' {
		r.key = body
	}
	return head[0], body, err
}

// until reads up to and including the next message of a kind, and returns all messages as text.
func (r *raw) until(kind byte) (all []string) {
	r.t.Helper()
	for {
		got, body, err := r.frame()
		if err != nil {
			r.t.Fatalf("while waiting for %q: %v, after %q", kind, err, all)
		}
		all = append(all, string(got)+string(body))
		if got == kind {
			return all
		}
	}
}

// rest reads whole messages until the other side closes.
func (r *raw) rest() (all []string) {
	r.t.Helper()
	for {
		kind, body, err := r.frame()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			r.t.Fatalf("%v, after %q", err, all)
		}
		all = append(all, string(kind)+string(body))
	}
}
