package frame

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns both ends of a connection over loopback.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if near, err = net.Dial("tcp4", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func TestAnOutletWritesAllEvenWhereThePeerReadsSlowly(t *testing.T) {
	near, far := pair(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // more than any socket buffer
	read := make(chan []byte)
	go func() {
		got, _ := io.ReadAll(far)
		read <- got
	}()
	if n, err := NewOutlet(near).Write(want); n != len(want) || err != nil {
		t.Errorf("%d bytes were written, error %v; expected %d", n, err, len(want))
	}
	near.Close()
	if got := <-read; !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived; expected the %d that were written", len(got), len(want))
	}
}

func TestAnOutletEndsWithItsConnection(t *testing.T) {
	much := make([]byte, 64<<20)
	for name, c := range map[string]struct {
		end  func(near, far net.Conn)
		want error
	}{
		"closed here":  {func(near, _ net.Conn) { near.Close() }, net.ErrClosed},
		"closed there": {func(_, far net.Conn) { far.Close() }, nil},
		"deadline":     {func(near, _ net.Conn) { _ = near.SetWriteDeadline(longAgo) }, os.ErrDeadlineExceeded},
		"deadline is past": {
			func(near, _ net.Conn) { _ = near.SetWriteDeadline(time.Now().Add(-time.Hour)) }, os.ErrDeadlineExceeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			ended := make(chan error)
			go func() {
				_, err := NewOutlet(near).Write(much)
				ended <- err
			}()
			if _, err := far.Read(make([]byte, 1)); err != nil { // the write has begun
				t.Fatal(err)
			}
			c.end(near, far)
			if err := <-ended; err == nil || (c.want != nil && !errors.Is(err, c.want)) {
				t.Errorf("the write ended with %v; expected %v", err, c.want)
			}
		})
	}
}

func TestATLSConnectionIsNeverWrittenPast(t *testing.T) {
	near, _ := pair(t)
	wrapped := tls.Client(near, &tls.Config{InsecureSkipVerify: true})
	if to := NewOutlet(wrapped); to != io.Writer(wrapped) {
		t.Errorf("what is meant for a TLS connection is written to %T", to)
	}
	if in := NewInbox(wrapped, NewBuffers()); in.raw != nil {
		t.Error("a TLS connection is read through its descriptor")
	}
}
