package idserver

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/packet"
)

// client is one, played by a test.
type client struct {
	t    testing.TB
	conn net.Conn
	// heard is everything that the server has sent.
	heard []byte
}

// comes connects a client. config is nil without TLS.
func (h *hall) comes(config *tls.Config) *client {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.listener.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	if config != nil {
		conn = tls.Client(conn, config)
	}
	h.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(giveUp))
	return &client{t: h.t, conn: conn}
}

var hello = packet.Startup

// wanted is what a startup packet asks for; the proxy hands on no other packets.
func wanted(t testing.TB, packet []byte) *wire.Startup {
	t.Helper()
	s, ok := wire.ParseStartup(packet)
	if !ok {
		t.Skipf("%q is no startup packet", packet)
	}
	return &s
}

// knocks returns a client that has sent its startup packet.
func (h *hall) knocks(user string, more ...string) *client {
	h.t.Helper()
	v := h.comes(nil)
	v.send(hello(3<<16, append([]string{"user", user, "database", "ids"}, more...)...))
	return v
}

func (v *client) send(b []byte) {
	v.t.Helper()
	if _, err := v.conn.Write(b); err != nil {
		v.t.Fatal(err)
	}
}

// next reads one message.
func (v *client) next() (kind byte, body []byte) {
	v.t.Helper()
	head := make([]byte, 5)
	if _, err := io.ReadFull(v.conn, head); err != nil {
		v.t.Fatalf("the server has said %q: %v", v.heard, err)
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	if _, err := io.ReadFull(v.conn, body); err != nil {
		v.t.Fatal(err)
	}
	v.heard = append(append(v.heard, head...), body...)
	return head[0], body
}

// asked reads a request of the login.
func (v *client) asked(request int) []byte {
	v.t.Helper()
	kind, body := v.next()
	if kind != 'R' || int(binary.BigEndian.Uint32(body)) != request {
		v.t.Fatalf("the server said %q %q; expected request %d", kind, body, request)
	}
	return body[4:]
}

// rest reads until the server has hung up.
func (v *client) rest() []byte {
	v.t.Helper()
	rest, err := io.ReadAll(v.conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		v.t.Fatalf("the server has said %q, then %q: %v", v.heard, rest, err)
	}
	v.heard = append(v.heard, rest...)
	return rest
}

// fatal reads the FATAL that must be the server's last message.
func (v *client) fatal() *pgproto3.ErrorResponse {
	v.t.Helper()
	for {
		kind, body := v.next()
		if kind != 'E' {
			continue
		}
		var m pgproto3.ErrorResponse
		if err := m.Decode(body); err != nil {
			v.t.Fatal(err)
		}
		if rest := v.rest(); len(rest) > 0 || m.Severity != "FATAL" || m.SeverityUnlocalized != "FATAL" {
			v.t.Fatalf("the server said %+v, then %q", m, rest)
		}
		return &m
	}
}

// refused fails the test unless the client is refused in this way.
func (v *client) refused(sqlstate, message string) *pgproto3.ErrorResponse {
	v.t.Helper()
	m := v.fatal()
	if m.Code != sqlstate || !strings.Contains(m.Message, message) {
		v.t.Fatalf("refused with %s %q; expected %s %q", m.Code, m.Message, sqlstate, message)
	}
	return m
}

// passwordMessage is a PasswordMessage, SASLInitialResponse or SASLResponse.
func passwordMessage(contents ...[]byte) []byte {
	b, at := wire.Begin(nil, 'p')
	return wire.End(append(b, bytes.Join(contents, nil)...), at)
}

// initial is a SASLInitialResponse.
func initial(mechanism, first string) []byte {
	size := binary.BigEndian.AppendUint32(nil, uint32(len(first)))
	return passwordMessage([]byte(mechanism), []byte{0}, size, []byte(first))
}

// proves runs the exchange with a password, up to the client's last message.
func (v *client) proves(password string) *scram.Client {
	v.t.Helper()
	return v.provesBy(v.asked(wire.AuthSASL), password)
}

func (v *client) provesBy(mechanisms []byte, password string) *scram.Client {
	v.t.Helper()
	var state *tls.ConnectionState
	if conn, inside := v.conn.(*tls.Conn); inside {
		s := conn.ConnectionState()
		state = &s
	}
	client, err := scram.NewClient(mechanisms, password, state)
	if err != nil {
		v.t.Fatal(err)
	}
	first, err := client.Step("")
	if err != nil {
		v.t.Fatal(err)
	}
	v.send(initial(client.Mechanism(), first))
	final, err := client.Step(string(v.asked(wire.AuthSASLContinue)))
	if err != nil {
		v.t.Fatal(err)
	}
	v.send(passwordMessage([]byte(final)))
	return client
}

// enters logs in completely. It returns the session's key, and the parameters that the server reported.
func (v *client) enters(password string) (key []byte, parameters map[string]string) {
	v.t.Helper()
	client := v.proves(password)
	if _, err := client.Step(string(v.asked(wire.AuthSASLFinal))); err != nil {
		v.t.Fatalf("the server's own proof: %v", err)
	}
	return v.isIn()
}

// isIn reads what the server sends from AuthenticationOk on.
func (v *client) isIn() (key []byte, parameters map[string]string) {
	v.t.Helper()
	v.asked(wire.AuthDone)
	parameters = make(map[string]string)
	for {
		kind, body := v.next()
		switch kind {
		case 'S':
			name, value, _ := strings.Cut(strings.TrimSuffix(string(body), "\x00"), "\x00")
			parameters[name] = value
		case 'K':
			key = body
		case 'Z':
			if string(body) != "I" || key == nil {
				v.t.Fatalf("the server said Z %q behind the key %q", body, key)
			}
			return key, parameters
		default:
			v.t.Fatalf("the server said %q %q within its greeting", kind, body)
		}
	}
}

// leaves sends Terminate, and waits until the session is over.
func (v *client) leaves() {
	v.t.Helper()
	v.send([]byte{'X', 0, 0, 0, 4})
	v.rest()
}
