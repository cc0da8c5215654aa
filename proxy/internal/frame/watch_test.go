//go:build linux

package frame

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// stuffed starts a write of much more than the sockets hold, and returns when it waits.
func stuffed(t *testing.T, w *Writer, near net.Conn) (ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	go func() { ended <- w.Write(make([]byte, 64<<20)) }()
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		before := unsent(near)
		if before > 0 && w.watch.state.Load() != idle && unsent(near) == before {
			return ended
		}
		if time.Now().After(end) {
			t.Fatal("the write does not wait")
		}
	}
}

func TestAWriteIsGivenUpOnceThePeerTakesNothingAndNobodyNeedsIt(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"with a descriptor": func(c net.Conn) net.Conn { return c },
		"inside TLS":        func(c net.Conn) net.Conn { return above{c} },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			w := NewWriter(wrap(near))
			asked, needed := 0, true
			w.GiveUp(time.Hour, func() bool { asked++; return !needed })
			ended := stuffed(t, w, near)
			look := func(want int, why string) {
				t.Helper()
				if w.watch.look(); asked != want {
					t.Fatalf("over was called %d times; expected %d: %s", asked, want, why)
				}
			}
			look(0, "this is the first look")
			for asked < 2 { // the kernel may still take bytes for the peer, though the peer reads nothing
				w.watch.look()
			}
			before := w.watch.state.Load()
			for begun+1+int64(unsent(near)) == before {
				if _, err := io.CopyN(io.Discard, far, 64<<10); err != nil {
					t.Fatal(err)
				}
			}
			look(2, "the peer has taken something")
			needed = false
			for asked < 3 { // what was read may have made room for more than one look
				w.watch.look()
			}
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the write ended with %v", err)
			}
			if w.watch.state.Load() != idle || w.watch.timer.Stop() {
				t.Error("nothing is written, and a look is still to come")
			}
		})
	}
}

// above hides the descriptor of a connection, as TLS does.
type above struct{ net.Conn }

func (a above) NetConn() net.Conn { return a.Conn }

func TestAnEndIsSeenBehindBytesThatNobodyHasRead(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"close":      func(c net.Conn) { c.Close() },
		"half-close": func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() },
		"reset":      func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			if _, err := far.Write(ready('I')); err != nil {
				t.Fatal(err)
			}
			if Ended(near) || Ended(above{near}) {
				t.Fatal("it ended before its end")
			}
			_ = near.(*net.TCPConn).CloseWrite() // the own end says nothing about the peer's
			if Ended(near) {
				t.Fatal("this side's end was taken for the peer's")
			}
			end(far)
			for give := time.Now().Add(10 * time.Second); !Ended(near) || !Ended(above{near}); runtime.Gosched() {
				if time.Now().After(give) {
					t.Fatal("the end is not seen")
				}
			}
		})
	}
}
