package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
)

// What hostile or unlucky peers can do. If a test hangs here, it has found a session that never ends.

// over is a context that has ended: Drain ends all sessions at once.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestStrayCopyDataInsideARequestForwardsAllOfIt(t *testing.T) {
	r := newRig(t, &counter{})
	all := join(ourParse, message('d', []byte("x")), bindIt, executeAll, syncIt)
	r.relays(all, join(parseDone, bindDone, dataRow("7"), complete("SELECT 1"), ready('I')))
	r.answersAgain("1")
}

func TestStrayCopyDataBeforeAnAnswerReachesUpstream(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(copyData, ourQuery)
	r.toUpstream(copyData)
	r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
}

// Upstream may reply to a message before the proxy does anything else.
func TestALocalReplyIsWrittenBeforeWhatFollowsItIsForwarded(t *testing.T) {
	r := newUnbufferedRig(t)
	r.send(ourQuery, query("SELECT 1"))
	r.toClient(ourRow) // the rest of the reply is not written yet
	var n int
	var err error
	raw, _ := r.upstream.(*net.TCPConn).SyscallConn()
	raw.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	if err != syscall.EAGAIN {
		t.Errorf("upstream has %d bytes, %v; expected none before the client has its reply", n, err)
	}
	r.toClient(dataRow("1"), complete("SELECT 1"), ready('I'))
	r.toUpstream(query("SELECT 1"))
}

func TestRepliesToWhatCameBeforeTerminateAreRelayed(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("INSERT"), message('X'))
	r.toUpstream(query("INSERT"), message('X'))
	r.reply(complete("INSERT 0 1"), ready('I'))
	r.upstream.Close()
	if got := r.rest(r.client); !bytes.Equal(got, join(complete("INSERT 0 1"), ready('I'))) {
		t.Fatalf("the client got %q", got)
	}
}

func TestAClientThatVanishesWhileBothDirectionsAreStuffedEndsItsSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, &counter{})
	rows := bytes.Repeat(message('D', []byte{0, 0}), 100_000)
	stuffed := make(chan struct{})
	go func() { // upstream is busy writing and does not read
		defer close(stuffed)
		for {
			if _, err := r.upstream.Write(rows); err != nil {
				return
			}
		}
	}()
	r.client.SetWriteDeadline(time.Now().Add(time.Second))
	for {
		if _, err := r.client.Write(bytes.Repeat(query(strings.Repeat("x", 7000)), 100)); err != nil {
			break
		}
	}
	r.client.(*net.TCPConn).SetLinger(0)
	r.client.Close()
	<-stuffed // the proxy has closed the connection
	r.proxy.Wait()
}

// stalled is a session whose upstream stops in the middle of a message larger than the buffer.
func stalled(t *testing.T) *rig {
	r := newRig(t, &counter{})
	r.send(query("SELECT big"))
	r.toUpstream(query("SELECT big"))
	part := join(binary.BigEndian.AppendUint32([]byte{'D'}, 100_000), make([]byte, 20_000))
	r.reply(part)
	r.toClient(part)
	return r
}

func TestTheDrainTimeoutEndsASessionWhoseUpstreamStallsInsideAMessage(t *testing.T) {
	t.Parallel()
	r := stalled(t)
	r.proxy.Drain(over())
	r.proxy.Wait()
}

func TestAMalformedMessageEndsASessionWhoseUpstreamStallsInsideAMessage(t *testing.T) {
	t.Parallel()
	r := stalled(t)
	r.send([]byte{'Q', 0, 0, 0, 0})
	r.proxy.Wait()
}

// newUnbufferedRig has a client without buffers. Its writes end when the proxy has read them, and the proxy's writes
// end when the client has read them.
func newUnbufferedRig(t *testing.T, around ...func(net.Conn) net.Conn) *rig {
	r := newRigBeforeStartup(t, &counter{})
	r.client.Close()
	client, far := net.Pipe()
	for _, f := range around {
		far = f(far)
	}
	r.client = client
	r.proxy.conns.Go(func() { r.proxy.serve(far, 99, r.proxy.welcome(far)) })
	go r.client.Write(startup("user", "u", "database", "d"))
	r.upstream = <-r.arrivals
	r.toUpstream(startup("user", "u", "database", "d"))
	r.reply(authOK, ready('I'))
	r.toClient(authOK, ready('I'))
	return r
}

func TestDrainingWaitsForTheReplyOfASlowReader(t *testing.T) {
	r := newUnbufferedRig(t)
	r.send(query("SELECT much"))
	r.toUpstream(query("SELECT much"))
	reply := join(dataRow("1"), dataRow("2"), complete("SELECT 2"), ready('I'))
	r.reply(reply)
	r.toClient(reply[:5])
	drained := r.drains()
	r.toClient(reply[5:])
	if got := r.rest(r.client); bytes.Count(got, []byte("57P01")) != 1 {
		t.Fatalf("after its result the client got %q; expected FATAL 57P01", got)
	}
	<-drained
}

func TestAClientThatLeavesACopyIsNoticed(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("COPY t FROM STDIN"), syncIt)
	r.toUpstream(query("COPY t FROM STDIN"), syncIt)
	r.reply(copyIn)
	r.toClient(copyIn)
	r.client.Close()
	r.rest(r.upstream)
}

func TestWhatCameBeforeAMalformedMessageIsNotLost(t *testing.T) {
	bad := []byte{'Q', 0, 0, 0, 0}
	t.Run("forwarded", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.send(query("INSERT"), bad)
		r.toUpstream(query("INSERT"))
	})
	t.Run("answered", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.send(ourQuery, bad)
		r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	})
	t.Run("held", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.send(ourParse, bindIt, bad)
		r.toUpstream(ourParse, bindIt)
	})
}

func TestABurstLeavesNoMemoryBehind(t *testing.T) {
	r := newRig(t, &counter{})
	const n = 200_000
	go r.client.Write(bytes.Repeat(syncIt, n))
	go func() { // as PostgreSQL does, upstream replies as it reads
		in := bufio.NewReader(r.upstream)
		for range n / 1000 {
			io.CopyN(io.Discard, in, int64(1000*len(syncIt)))
			r.upstream.Write(bytes.Repeat(ready('I'), 1000))
		}
	}()
	r.client.SetReadDeadline(time.Now().Add(giveUp))
	io.CopyN(io.Discard, r.client, int64(n*len(ready('I'))))
	r.answersAgain("1")
}

func TestAClientThatIsNotAuthenticatedCannotFillTheMemory(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	r.send(startup("user", "u", "database", "d"))
	r.upstream = <-r.arrivals
	const n = 100_000
	go r.client.Write(bytes.Repeat(syncIt, n))
	r.toUpstream(startup("user", "u", "database", "d"))
	r.takes(syncIt, conversation.MaxEarly)
	c := r.only().conversation
	r.waits()
	if owed := c.Owed(); owed > conversation.MaxEarly+frame.BufferSize/frame.HeaderSize {
		t.Errorf("%d batches are owed before the login; expected at most a buffer's more than %d", owed,
			conversation.MaxEarly)
	}
	r.reply(authOK, ready('I')) // from here on it goes on
	go r.upstream.Write(bytes.Repeat(ready('I'), n))
	go io.Copy(io.Discard, r.client)
	r.takes(syncIt, n-conversation.MaxEarly)
}

func TestDrainEndsConnectionsThatNeverBecameSessions(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	silent := r.dial()
	defer silent.Close()
	for r.proxy.lastID.Load() < 2 { // until both connections are accepted
		runtime.Gosched()
	}
	r.proxy.Drain(context.Background())
	r.proxy.Wait()
}

func TestNothingFollowsTheFarewell(t *testing.T) {
	for range 50 {
		r := newRig(t, &counter{})
		done := make(chan []byte, 1)
		go func() { got, _ := io.ReadAll(r.client); done <- got }()
		go func() {
			for {
				if _, err := r.client.Write(bytes.Repeat(ourQuery, 50)); err != nil {
					return
				}
			}
		}()
		r.upstream.Close()
		got := <-done
		if at := bytes.Index(got, fatalMessage(failUpstreamLost)); at >= 0 &&
			at+len(fatalMessage(failUpstreamLost)) < len(got) {
			t.Fatalf("after its FATAL the client got %q", got[at:])
		}
	}
}
