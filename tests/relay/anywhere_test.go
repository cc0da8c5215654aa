package relay

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
)

// unasked are messages that a server may send at any time (protocol-flow, "Asynchronous Operations").
var unasked = slices.Concat(
	message('N', "SNOTICE\x00VNOTICE\x00C00000\x00Mlook\x00\x00"),
	message('S', "search_path\x00public\x00"),
	message('A', "\x00\x00\x00\x07channel\x00payload\x00"),
)

// says writes b in pieces of this size.
func (r *raw) says(b []byte, piece int) {
	for len(b) > 0 {
		n, err := r.conn.Write(b[:min(len(b), piece)])
		if err != nil {
			r.t.Errorf("scripted upstream: %v", err)
			return
		}
		b = b[n:]
	}
}

// hears expects exactly these bytes.
func (r *raw) hears(what string, want []byte) {
	r.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(r.in, got)
	if !bytes.Equal(got[:n], want) {
		r.t.Fatalf("%s came as %q, %v; expected %q", what, got[:n], err, want)
	}
}

// PostgreSQL may send a notice, a parameter or a notification between any two messages. A test cannot make it do so at
// a chosen place.
func TestWhatComesUnaskedMayComeAnywhereAndTheSessionIsStillAnswered(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 20_000)
	login := slices.Concat(
		message('N', "SNOTICE\x00VNOTICE\x00C00000\x00Mbefore the login\x00\x00"),
		message('R', "\x00\x00\x00\x00"), unasked,
		message('S', "a parameter\x00"+big+"\x00"), message('K', "12345678"), message('Z', "I"),
	)
	row, data := message('D', "\x00\x01\x00\x00\x00\x011"), message('d', "a line\n")
	large := message('D', "\x00\x01\x00\x00\x4e\x20"+big)
	rows := slices.Concat(unasked, message('T', "\x00\x00"), unasked, row, unasked, large, unasked, row, unasked,
		message('C', "SELECT 3\x00"), unasked, message('Z', "I"))
	copied := slices.Concat(message('H', "\x00\x00\x00"), data, unasked, data, unasked, message('c', ""), unasked,
		message('C', "COPY 2\x00"), message('Z', "I"))
	for _, piece := range []int{3, 1000, 1 << 20} {
		upstream, wait := script(t, func(r *raw) {
			r.hello()
			r.says(login, piece)
			for _, reply := range [][]byte{rows, copied, unasked} {
				r.until('Q')
				r.says(reply, piece)
			}
			r.heard()
		})
		address, p := inFront(t, upstream)
		r := dial(t, address)
		r.say(hello(version30, "user", "ann"))
		r.hears("the login", login)
		r.say(query("SELECT much"))
		r.hears("a result", rows)
		r.say(query(ours))
		r.until('Z')
		r.say(query("COPY t TO STDOUT"))
		r.hears("a copy", copied)
		r.say(execute(ours, true))
		r.until('Z')
		r.say(query("LISTEN")) // only the asynchronous messages answer it
		r.hears("what came unasked", unasked)
		if n := p.Stats().IDs; n != 2 {
			t.Errorf("%d IDs came from memory; expected 2", n)
		}
		r.conn.Close()
		wait()
	}
}

func TestLargeMessagesOfTheLoginPass(t *testing.T) {
	t.Parallel()
	challenge := message('R', "\x00\x00\x00\x08"+strings.Repeat("s", 30_000)) // a challenge of GSSAPI may be as long
	answer := message('p', strings.Repeat("t", 40_000))
	var heard []byte
	upstream, wait := script(t, func(r *raw) {
		r.hello()
		r.says(challenge, 1<<20)
		heard = make([]byte, len(answer))
		_, _ = io.ReadFull(r.conn, heard)
		r.says(slices.Concat(message('R', "\x00\x00\x00\x00"), message('Z', "I")), 1<<20)
		r.heard()
	})
	address, _ := inFront(t, upstream)
	r := dial(t, address)
	r.say(hello(version30, "user", "ann"))
	r.hears("the challenge", challenge)
	r.say(answer)
	r.until('Z')
	r.conn.Close()
	wait()
	if !bytes.Equal(heard, answer) {
		t.Errorf("upstream heard %d bytes that are not the client's answer", len(heard))
	}
}
