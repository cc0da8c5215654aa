package frame

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hangups watches sockets for the ends of their peers: FIN, reset or error. A read that does not fill its room has
// emptied the socket (epoll(7)), and Go's poller is edge-triggered. So what comes later wakes the reader. What came
// with the bytes of that read wakes nobody, and it can only be an end. Without a watch each wait would have to begin
// with a read that finds nothing.
//
// A second epoll instance has each socket for EPOLLRDHUP alone. So bytes do not wake it. It gives an end once, even if
// the end came before enter. report then stores reported first, and sets a read deadline in the past second. A reader
// that has left an end behind finds it in any order of events:
//
//   - If readReady sees reported, it reads again.
//   - Else the deadline comes later than that. It ends the wait, or forbids it. Then Each resets it and reads again.
//   - If Each resets it for another one's sake, reported was stored before. readReady sees it before it waits.
//
// The kernel forgets a socket that is closed, but its number may be used again while a late event is on its way. So an
// event has a token, which is given once.
//
// Urgent data ends a read, too. PostgreSQL has no use for it: what follows it waits for the next bytes or the end.
//
// The zero value is ready. Its epoll instance and its goroutine exist while it watches a socket.
type hangups struct {
	mu      sync.Mutex
	watched map[uint64]*hangup // by token
	last    uint64             // the last token
	epoll   *os.File           // nil while nothing is watched
}

// hangup is what the reader of a socket knows of its end.
type hangup struct {
	conn     net.Conn // what it is woken with
	token    uint64   // 0: not watched
	reported atomic.Bool
}

// mayWait says that after a read that has emptied the socket its reader may wait without another one.
func (g *hangup) mayWait() bool { return g.token != 0 && !g.reported.Load() }

// enter watches the socket of a reader until leave. raw is nil if it has none. If the system allows no watch, the
// reader goes on without.
func (h *hangups) enter(g *hangup, conn net.Conn, raw syscall.RawConn) {
	if raw == nil || g.token != 0 {
		return
	}
	h.mu.Lock()
	if h.epoll == nil {
		h.epoll = newEpoll()
		if h.epoll == nil {
			h.mu.Unlock()
			return
		}
		h.watched = make(map[uint64]*hangup)
		go h.run(h.epoll)
	}
	h.last++
	token, epoll := h.last, h.epoll
	g.conn, g.token = conn, token
	h.watched[token] = g // before the event can come; and it keeps epoll open
	h.mu.Unlock()
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(token), Pad: int32(token >> 32)}
	entered := false
	_ = raw.Control(func(socket uintptr) {
		entered = unix.EpollCtl(int(epoll.Fd()), unix.EPOLL_CTL_ADD, int(socket), &event) == nil
	})
	if !entered {
		h.leave(g)
	}
}

// leave ends the watch of a socket that nobody reads any more.
func (h *hangups) leave(g *hangup) {
	if g.token == 0 {
		return
	}
	var unused *os.File
	h.mu.Lock()
	delete(h.watched, g.token)
	if len(h.watched) == 0 {
		unused, h.epoll = h.epoll, nil
	}
	h.mu.Unlock()
	g.token = 0
	if unused != nil {
		unused.Close() // waits for run, which may wait for mu
	}
}

// newEpoll returns an epoll instance for whose events a goroutine can wait without a thread; nil: there is none.
func newEpoll() *os.File {
	descriptor, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	_ = unix.SetNonblock(descriptor, true) // for NewFile
	epoll := os.NewFile(uintptr(descriptor), "epoll")
	if epoll.SetReadDeadline(time.Time{}) != nil { // Go's poller did not take it
		epoll.Close()
		return nil
	}
	return epoll
}

// run reports ends until epoll is closed.
func (h *hangups) run(epoll *os.File) {
	raw, err := epoll.SyscallConn()
	if err != nil {
		return
	}
	events := make([]unix.EpollEvent, 64)
	_ = raw.Read(func(descriptor uintptr) bool {
		for {
			n, _ := unix.EpollWait(int(descriptor), events, 0)
			if n <= 0 {
				return false
			}
			for _, e := range events[:n] {
				h.report(uint64(uint32(e.Fd)) | uint64(e.Pad)<<32)
			}
		}
	})
}

// report makes the reader of a socket read up to the end. It does nothing if the reader has left.
func (h *hangups) report(token uint64) {
	h.mu.Lock()
	g := h.watched[token]
	h.mu.Unlock()
	if g != nil {
		g.reported.Store(true)
		_ = g.conn.SetReadDeadline(time.Unix(1, 0))
	}
}
