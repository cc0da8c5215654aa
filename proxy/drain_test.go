package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/proxy/internal/frame"
)

// drains starts Drain, and returns once it has reached every session.
func (r *rig) drains() (drained chan struct{}) {
	drained = make(chan struct{})
	go func() { r.proxy.Drain(context.Background()); close(drained) }()
	for !r.proxy.registry.IsClosed() { // Drain closes it after it has interrupted the sessions
		runtime.Gosched()
	}
	return drained
}

// accepted returns when a connection was accepted that is no session yet.
func (r *rig) accepted() {
	for r.proxy.settled() {
		runtime.Gosched()
	}
}

func TestCancelRequestsPassWhileTheProxyDrains(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("SELECT pg_sleep(600)"))
	r.toUpstream(query("SELECT pg_sleep(600)"))
	drained := r.drains()
	packet := []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
	c := r.dial()
	defer c.Close()
	c.Write(packet)
	up := <-r.arrivals
	r.expect(up, "upstream", [][]byte{packet})
	up.Close()
	r.reply(theirFailure, ready('I'))
	if got := r.rest(r.client); !bytes.HasPrefix(got, join(theirFailure, ready('I'))) ||
		bytes.Count(got, []byte("57P01")) != 1 {
		t.Fatalf("the client got %q; expected upstream's error, then FATAL 57P01", got)
	}
	<-drained
}

// Drain wakes the reader of every client. If that is inside a message, the message must neither be torn nor cut short.
func TestDrainingInsideAMessageOfTheClientWaitsForItsEndAndReply(t *testing.T) {
	for name, size := range map[string]int{"that fits a buffer": 100, "that is streamed": 5 * frame.BufferSize} {
		t.Run(name, func(t *testing.T) {
			r := newUnbufferedRig(t)
			body := bytes.Repeat([]byte{'x'}, size)
			whole := append(binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(size+5)), append(body, 0)...)
			r.send(whole[:len(whole)/2])
			drained := r.drains()
			r.send(whole[len(whole)/2:])
			r.toUpstream(whole)
			reply := join(complete("SELECT 1"), ready('I'))
			r.reply(reply)
			if got := r.rest(r.client); !bytes.HasPrefix(got, reply) || bytes.Count(got, []byte("57P01")) != 1 {
				t.Fatalf("the client got %q; expected its reply, then FATAL 57P01", got)
			}
			<-drained
		})
	}
}

func TestDrainingWaitsForTheSyncOfABatch(t *testing.T) {
	for name, begin := range map[string]func(r *rig){
		"that is held":       func(r *rig) { r.send(ourParse, bindIt, executeAll) },
		"that was forwarded": func(r *rig) { r.relays(join(parse("s", "SELECT 5"), flushIt), parseDone) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newUnbufferedRig(t)
			begin(r)
			drained := r.drains()
			r.send(syncIt)
			if name == "that was forwarded" {
				r.toUpstream(syncIt)
				r.reply(ready('I'))
			} else {
				r.toClient(parseDone, bindDone, dataRow("1"), complete("SELECT 1"))
			}
			if got := r.rest(r.client); !bytes.HasPrefix(got, ready('I')) || bytes.Count(got, []byte("57P01")) != 1 {
				t.Fatalf("the client got %q; expected ReadyForQuery, then FATAL 57P01", got)
			}
			<-drained
		})
	}
}

// woken is a connection that says when its reader, after it was woken, reads again.
type woken struct {
	net.Conn
	awake atomic.Bool
	again chan struct{}
}

func (w *woken) SetReadDeadline(t time.Time) error {
	w.awake.Store(t.IsZero())
	return w.Conn.SetReadDeadline(t)
}

func (w *woken) Read(b []byte) (int, error) {
	if w.awake.CompareAndSwap(true, false) {
		select {
		case w.again <- struct{}{}:
		default: // nothing: it was sent before
		}
	}
	return w.Conn.Read(b)
}

// Unasked messages do not end with a ReadyForQuery, which is when a draining session is checked.
func TestDrainingASessionThatIsBeingToldSomethingUnaskedWaitsForItsEndOnly(t *testing.T) {
	for name, size := range map[string]int{"that fits a buffer": 100, "that is streamed": 2 * frame.BufferSize} {
		t.Run(name, func(t *testing.T) {
			reader := &woken{again: make(chan struct{}, 1)}
			r := newUnbufferedRig(t, func(c net.Conn) net.Conn { reader.Conn = c; return reader })
			notice := message('N', []byte("SNOTICE"), make([]byte, size))
			r.reply(notice)
			r.toClient(notice[:5])
			drained := r.drains()
			<-reader.again // the session was checked in the middle of a message
			r.toClient(notice[5:])
			if got := r.rest(r.client); bytes.Count(got, []byte("57P01")) != 1 {
				t.Fatalf("after the notice the client got %q; expected FATAL 57P01", got)
			}
			<-drained
		})
	}
}

// The listening socket goes to another process, so no accepted client may be refused.
func TestWhoWasAcceptedBeforeASocketIsHandedOverLogsInAndIsThenSentAway(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	r.accepted()
	settled := make(chan int, 1)
	go func() { r.proxy.Settle(context.Background()); settled <- r.proxy.Stats().Now }()
	hello, welcome := startup("user", "u", "database", "d"), join(authOK, ready('I'))
	r.send(hello)
	upstream := <-r.arrivals
	r.expect(upstream, "upstream", [][]byte{hello})
	if sessions := <-settled; sessions != 1 {
		t.Fatalf("the proxy is settled with %d sessions; expected the one that was accepted", sessions)
	}
	drained := r.drains()
	r.write(upstream, [][]byte{welcome})
	if got := r.rest(r.client); !bytes.HasPrefix(got, welcome) || bytes.Count(got, []byte("57P01")) != 1 {
		t.Errorf("the client got %q; expected to be logged in, then FATAL 57P01", got)
	}
	<-drained
}

func TestStrangersWhoSayNothingDelayAHandoverNoLongerThanItsTime(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	r.accepted()
	ctx, late := context.WithCancel(context.Background())
	late()
	r.proxy.Settle(ctx)
	<-r.drains()
	if got := r.rest(r.client); len(got) > 0 {
		t.Errorf("a client that has said nothing got %q", got)
	}
}
