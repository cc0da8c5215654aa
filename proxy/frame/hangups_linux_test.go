package frame

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// byEnd are the ways to end a connection, or its own direction of it.
var byEnd = map[string]func(net.Conn){
	"close":      func(c net.Conn) { c.Close() },
	"half-close": func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() },
	"reset":      func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() },
}

// until waits for a state that must come.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for give := time.Now().Add(10 * time.Second); !is(); runtime.Gosched() {
		if time.Now().After(give) {
			t.Fatal("it did not come: " + what)
		}
	}
}

// readable waits until the kernel has something for conn's reader.
func readable(t *testing.T, conn net.Conn, events int16) {
	t.Helper()
	onSocket(conn, func(descriptor int) {
		polled := []unix.PollFd{{Fd: int32(descriptor), Events: events}}
		if n, err := unix.Poll(polled, 10_000); n != 1 || err != nil {
			t.Error("nothing came", err)
		}
	})
}

// watchedPair is an inbox that is watched, and its peer. At the end nothing may be left of the watch.
func watchedPair(t *testing.T, b *Buffers) (in *Inbox, peer net.Conn) {
	t.Helper()
	conn, peer := pair(t)
	in = NewInbox(conn, b)
	b.hangups.enter(&in.hangup, in.conn, in.raw)
	if in.hangup.token == 0 {
		t.Fatal("the inbox is not watched")
	}
	t.Cleanup(in.Leave)
	return in, peer
}

// readNowAndTake is one call of readReady within Each.
func readNowAndTake(in *Inbox) (done bool) {
	in.takes = func() error { in.Drop(len(in.Unread())); return nil }
	defer func() { in.takes = nil }()
	_ = in.raw.Control(func(descriptor uintptr) { done = in.readReady(descriptor) })
	return done
}

func TestAReadThatEmptiedTheSocketIsTheLastOneUnlessThePeerHasEnded(t *testing.T) {
	in, peer := watchedPair(t, NewBuffers())
	say := func() {
		t.Helper()
		if _, err := peer.Write(ready('I')); err != nil {
			t.Fatal(err)
		}
		readable(t, in.conn, unix.POLLIN)
	}
	say()
	if done := readNowAndTake(in); done || in.err != nil || in.buf != nil {
		t.Errorf("it read on (%v, %v), or waits with a buffer of %d; expected a wait after one read",
			done, in.err, len(in.buf))
	}
	say()
	unwatched := NewInbox(in.conn, in.buffers)
	in.buffers.hangups.enter(&unwatched.hangup, in.conn, in.raw) // the kernel does not take a socket twice
	if done := readNowAndTake(unwatched); done || unwatched.err != syscall.EAGAIN || unwatched.hangup.token != 0 {
		t.Errorf("without a watch: %v, %v; expected that it reads until nothing comes", done, unwatched.err)
	}
	say()
	_ = peer.(*net.TCPConn).CloseWrite()
	until(t, "the report", in.hangup.reported.Load)
	if done := readNowAndTake(in); !done || in.err != io.EOF {
		t.Errorf("after the peer's end: %v, %v; expected io.EOF", done, in.err)
	}
}

// Each order of report and read, with other deadlines at the same time.
func TestAnEndThatCameWithTheLastBytesEndsEachInEveryOrderOfEvents(t *testing.T) {
	last := ready('I')
	for name, end := range byEnd {
		for order, prepare := range map[string]func(in *Inbox, peer net.Conn, end func()) (during func()){
			"before the watch": func(in *Inbox, _ net.Conn, end func()) func() {
				in.Leave()
				end()
				return func() {}
			},
			"reported before the read": func(in *Inbox, _ net.Conn, end func()) func() {
				end()
				until(t, "the report", in.hangup.reported.Load)
				return func() {}
			},
			"reported after the read": func(in *Inbox, _ net.Conn, end func()) func() {
				in.buffers.hangups.mu.Lock() // no report as long as this is held
				end()
				readable(t, in.conn, unix.POLLRDHUP)
				return func() { go in.buffers.hangups.mu.Unlock() }
			},
			"with other deadlines": func(in *Inbox, _ net.Conn, end func()) func() {
				go func() {
					for range 20 {
						_ = in.conn.SetReadDeadline(longAgo)
						runtime.Gosched()
					}
				}()
				end()
				return func() {}
			},
		} {
			t.Run(name+" "+order, func(t *testing.T) {
				b := NewBuffers()
				for range 100 {
					in, peer := watchedPair(t, b)
					during := prepare(in, peer, func() {
						if _, err := peer.Write(last); err != nil {
							t.Fatal(err)
						}
						end(peer)
					})
					if in.hangup.token == 0 {
						readable(t, in.conn, unix.POLLRDHUP)
					}
					heard := 0
					over := make(chan error, 1)
					go func() {
						_, gone := in.Each(func() error {
							n := len(in.Unread())
							in.Drop(n)
							if heard += n; n > 0 {
								during()
							}
							return nil
						})
						over <- gone
					}()
					select {
					case gone := <-over:
						if heard != len(last) || (name == "reset") == errors.Is(gone, io.EOF) {
							t.Fatalf("it heard %d bytes of %d, and then %v", heard, len(last), gone)
						}
					case <-time.After(10 * time.Second):
						t.Fatal("the end was not noticed")
					}
					in.Leave()
					in.conn.Close()
					peer.Close()
				}
			})
		}
	}
}

func TestALateEndDoesNotReachAnotherSocketWithTheSameNumber(t *testing.T) {
	b := NewBuffers()
	number := func(c net.Conn) (descriptor int) {
		onSocket(c, func(d int) { descriptor = d })
		return descriptor
	}
	third, other := watchedPair(t, b) // keeps the watch going
	first, peer := watchedPair(t, b)
	kept, err := first.conn.(*net.TCPConn).File() // keeps the first socket with the kernel
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	was := number(first.conn)
	first.Leave()
	first.conn.Close()
	near, far := dialed(t, ln)
	for tries := 0; number(near) != was && number(far) != was; tries++ { // lower numbers may be free, too
		if near, far = dialed(t, ln); tries == 100 {
			t.Fatalf("no new socket has the number %d", was)
		}
	}
	if number(far) == was {
		near, far = far, near
	}
	second := NewInbox(near, b)
	b.hangups.enter(&second.hangup, second.conn, second.raw)
	defer second.Leave()
	peer.Close()
	other.Close()
	until(t, "the report of what ended later", third.hangup.reported.Load)
	if second.hangup.reported.Load() {
		t.Error("the end of the first socket was reported for the second")
	}
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Read(make([]byte, 1)); n != 1 {
		t.Errorf("the second socket cannot be read: %v", err)
	}
}

func TestNothingIsLeftOfTheWatchOnceNobodyIsWatched(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b := NewBuffers()
	for range 10 {
		one, peer := watchedPair(t, b)
		two, _ := watchedPair(t, b)
		epoll := b.hangups.epoll
		peer.Close()
		one.Leave()
		if b.hangups.epoll != epoll || len(b.hangups.watched) != 1 {
			t.Fatal("the watch ended too early")
		}
		two.Leave()
		if b.hangups.epoll != nil || len(b.hangups.watched) != 0 {
			t.Fatal("the watch goes on")
		}
		if err := epoll.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the epoll instance was left open (%v)", err)
		}
	}
}
