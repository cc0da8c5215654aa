package frame

import (
	"errors"
	"io"
	"net"
	"testing"
)

func TestACloseIsNoticedWhileBytesKeepComing(t *testing.T) {
	conn, peer := pair(t)
	in, takes := NewInbox(conn, NewBuffers()), 0
	never := errors.New("it goes on reading")
	closed := make(chan struct{})
	refused, gone := in.Each(func() error {
		in.Drop(len(in.Unread()))
		if takes++; takes == 10 {
			go func() {
				conn.Close()
				close(closed)
			}()
		}
		if takes > 1_000_000 {
			return never
		}
		_, err := peer.Write([]byte{0}) // so that the next read finds something
		return err
	})
	<-closed
	if errors.Is(refused, never) || (refused == nil && gone == nil) {
		t.Errorf("after %d reads: %v, %v; expected that the connection is closed", takes, refused, gone)
	}
}

// counted reports the size of each read.
type counted struct {
	net.Conn
	reads chan int
}

func (c counted) Read(b []byte) (int, error) {
	c.reads <- len(b)
	return c.Conn.Read(b)
}

func TestWithoutADescriptorAnEmptyInboxWaitsWithoutABuffer(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	reads := make(chan int, 10)
	in := NewInbox(counted{far, reads}, NewBuffers())
	done := make(chan error, 1)
	for range 2 { // once more after a frame
		go func() { done <- in.fill() }()
		if n := <-reads; n != 1 || in.buf != nil {
			t.Fatalf("it waits with a buffer of %d bytes, to read %d", len(in.buf), n)
		}
		if _, err := near.Write(ready('I')); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || len(in.Unread()) != len(ready('I')) {
			t.Fatalf("%d bytes are there (error %v); expected the frame", len(in.Unread()), err)
		}
		<-reads
		in.Drop(len(in.Unread()))
	}
}

func TestWithoutADescriptorTheEndOfAPeerThatSentOneByteIsSeen(t *testing.T) {
	near, far := net.Pipe()
	in := NewInbox(far, NewBuffers())
	go func() {
		_, _ = near.Write([]byte("Q"))
		near.Close()
	}()
	_, gone := in.Each(func() error { return nil })
	if !errors.Is(gone, io.EOF) || len(in.Unread()) != 1 {
		t.Errorf("%d bytes are there, and it ended with %v; expected one, and the end", len(in.Unread()), gone)
	}
}
