package relay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// script plays the upstream. Each connection that it accepts gets the next function of play. wait waits for the last of
// them.
func script(t *testing.T, play ...func(*raw)) (address string, wait func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, act := range play {
			conn, err := listener.Accept()
			if err != nil {
				t.Errorf("scripted upstream: %v", err)
				return
			}
			if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Error(err)
			}
			act(&raw{t: t, conn: conn.(*net.TCPConn), in: bufio.NewReader(conn)})
			conn.Close()
		}
	}()
	return listener.Addr().String(), func() {
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("the scripted upstream has not come to its end")
		}
	}
}

func message(kind byte, body string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	return append(b, body...)
}

// hello reads a StartupMessage.
func (r *raw) hello() {
	var size [4]byte
	if _, err := io.ReadFull(r.conn, size[:]); err != nil {
		r.t.Errorf("scripted upstream: %v", err)
		return
	}
	if _, err := io.CopyN(io.Discard, r.conn, int64(binary.BigEndian.Uint32(size[:]))-4); err != nil {
		r.t.Errorf("scripted upstream: %v", err)
	}
}

// greet reads a StartupMessage and lets the client in, with a key, or without one if key is empty.
func (r *raw) greet(key string) {
	r.hello()
	b := message('R', "\x00\x00\x00\x00")
	if key != "" {
		b = append(b, message('K', key)...)
	}
	_, _ = r.conn.Write(append(b, message('Z', "I")...))
}

// heard reads everything until the other side closes.
func (r *raw) heard() string {
	b, err := io.ReadAll(r.conn)
	if err != nil {
		r.t.Errorf("scripted upstream: %v", err)
	}
	return string(b)
}

func TestAKeyOf256BytesAndItsCancelRequestPassUnchanged(t *testing.T) {
	t.Parallel()
	key := "\x00\x00\x00\x07" + strings.Repeat("k", 256)
	request := append(binary.BigEndian.AppendUint32(nil, uint32(8+len(key))), 4, 210, 22, 46)
	request = append(request, key...)
	var heard string
	var handled atomic.Bool
	upstream, wait := script(t, func(r *raw) { r.greet(key); r.heard() }, func(r *raw) {
		got := make([]byte, len(request))
		_, _ = io.ReadFull(r.conn, got)
		heard = string(got)
		handled.Store(true) // PostgreSQL also closes the connection after it has sent the signal
	})
	address, _ := inFront(t, upstream)
	r := dial(t, address)
	r.say(hello(version30+2, "user", "ann"))
	if got := r.until('Z'); string(r.key) != key {
		t.Errorf("the client was told %q; expected the key of 256 bytes", got)
	}
	r.conn.Close()
	c := dial(t, address)
	// libpq may ask for these before it cancels
	for _, encryption := range [][]byte{{0, 0, 0, 8, 4, 210, 22, 48}, {0, 0, 0, 8, 4, 210, 22, 47}} {
		c.say(encryption)
		c.hears("the refusal", []byte{'N'})
	}
	c.say(request)
	if rest, err := io.ReadAll(c.conn); len(rest) > 0 || err != nil || !handled.Load() {
		t.Errorf("a CancelRequest is answered %q, %v, handled: %v; "+
			"expected the end alone, once upstream has handled it", rest, err, handled.Load())
	}
	wait()
	if heard != string(request) {
		t.Errorf("upstream got %q as CancelRequest; expected it unchanged", heard)
	}
}

func TestAServerWithoutAKeyIsLeftWithoutOne(t *testing.T) {
	t.Parallel()
	upstream, wait := script(t, func(r *raw) { r.greet(""); r.heard() })
	address, _ := inFront(t, upstream)
	r := dial(t, address)
	r.say(hello(version30, "user", "ann"))
	if got := r.until('Z'); !slices.Equal(got, []string{"R\x00\x00\x00\x00", "ZI"}) {
		t.Errorf("the client was told %q; expected what upstream said", got)
	}
	r.say(query(ours))
	r.until('Z')
	r.conn.Close()
	wait()
}

func TestAServerThatClosesItsDirectionIsHeardToItsEnd(t *testing.T) {
	t.Parallel()
	fatal := message('E', "SFATAL\x00VFATAL\x00C57P01\x00Mgoing\x00\x00")
	upstream, wait := script(t, func(r *raw) {
		r.greet("12345678")
		_, _ = r.conn.Write(slices.Concat(message('N', "SNOTICE\x00VNOTICE\x00C00000\x00Mone\x00\x00"), fatal))
		_ = r.conn.CloseWrite()
		r.heard()
	})
	address, _ := inFront(t, upstream)
	r := dial(t, address)
	r.say(hello(version30, "user", "ann"))
	r.until('Z')
	got := r.rest()
	if len(got) != 2 || got[0][0] != 'N' || !bytes.Equal(message('E', got[1][1:]), fatal) {
		t.Errorf("the client heard %q; expected the notice, the FATAL once, and the end", got)
	}
	wait()
}
