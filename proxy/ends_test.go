package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"pgflurry/proxy/internal/conversation"
)

// opens brings another session to its first ReadyForQuery.
func (r *rig) opens() (client, upstream net.Conn) {
	r.t.Helper()
	client = r.dial()
	return client, r.starts(client)
}

// endings are the ways to end a connection, or its own direction of it.
var endings = map[string]func(c net.Conn){
	"close":      func(c net.Conn) { c.Close() },
	"half-close": func(c net.Conn) { c.(*net.TCPConn).CloseWrite() },
	"reset":      func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() },
}

func TestInvariant11AnEndThatComesWithTheLastMessageIsNoticed(t *testing.T) {
	// With one processor the proxy does not run between the message and the end. So both are one event.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := newRigBeforeStartup(t, &counter{})
	before := descriptors(t)
	// end runs a hundred sessions. In each, one side sends its last message and ends, and the other side must get
	// enough.
	end := func(t *testing.T, by func(net.Conn), ofUpstream bool, last []byte, enough func(heard []byte) bool) {
		t.Helper()
		for range 100 {
			client, upstream := r.opens()
			speaks, hears := client, upstream
			if ofUpstream {
				speaks, hears = upstream, client
				r.write(client, [][]byte{query("SELECT 1")})
				r.expect(upstream, "upstream", [][]byte{query("SELECT 1")})
			}
			speaks.Write(last)
			by(speaks)
			if got := r.rest(hears); !enough(got) {
				t.Fatalf("the other side got %q; expected %q", got, last)
			}
			hears.Close()
			r.rest(speaks)
			speaks.Close()
		}
	}
	for name, by := range endings {
		for last, message := range map[string][]byte{
			"query": query("SELECT 1"), "batch": join(parse("", "SELECT 1"), bindIt, executeAll, syncIt),
			"half a message": query("SELECT 1")[:8], "answered query": ourQuery,
			"flush": join(parse("s", "SELECT 1"), flushIt), "copy data": copyData,
		} {
			t.Run(fmt.Sprintf("%s of the client behind a %s", name, last), func(t *testing.T) {
				end(t, by, false, message, func(heard []byte) bool {
					return last == "answered query" || bytes.Equal(heard, message)
				})
			})
		}
		for last, message := range map[string][]byte{
			"ReadyForQuery": join(complete("SELECT 1"), ready('I')), "row": dataRow("1"),
			"half a message": dataRow("1")[:6], "notice": message('N', z("SNOTICE"), []byte{0}),
		} {
			t.Run(fmt.Sprintf("%s of upstream behind a %s", name, last), func(t *testing.T) {
				end(t, by, true, message, func(heard []byte) bool { // and perhaps a farewell
					return last == "half a message" || bytes.HasPrefix(heard, message)
				})
			})
		}
	}
	r.client.Close()
	r.proxy.Wait()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors are open after the sessions; %d were before", after, before)
	}
}

func TestDrainingAndAnEndAtOnceLoseNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 100 {
		r := newRigBeforeStartup(t, &counter{})
		r.upstream = r.starts(r.client)
		r.send(query("SELECT 1"))
		r.toUpstream(query("SELECT 1"))
		r.client.(*net.TCPConn).CloseWrite()
		drained := r.drains()
		if got := r.rest(r.upstream); len(got) > 0 {
			t.Fatalf("upstream got %q; expected no more than the client sent", got)
		}
		r.reply(complete("SELECT 1"), ready('I'))
		r.upstream.Close()
		if got := r.rest(r.client); !bytes.Equal(got, join(complete("SELECT 1"), ready('I'))) {
			t.Fatalf("the client got %q; expected the reply", got)
		}
		<-drained
	}
}

// Closing a connection waits for its reader, which may be busy with the other connection.
func TestTheDrainTimeoutEndsASessionWhoseClientIsMadeToWait(t *testing.T) {
	r := newRig(t, &counter{})
	go r.client.Write(bytes.Repeat(query("x"), 2*conversation.MaxOwed))
	r.takes(query("x"), conversation.MaxOwed)
	r.waits()
	r.proxy.Drain(over())
	r.proxy.Wait()
}

func TestTheDrainTimeoutEndsASessionThatIsStuffedInBothDirections(t *testing.T) {
	t.Parallel()
	r := newRig(t, &counter{})
	stuff := func(c net.Conn, message []byte) {
		c.SetWriteDeadline(time.Now().Add(time.Second))
		for {
			if _, err := c.Write(message); err != nil {
				return
			}
		}
	}
	var both sync.WaitGroup
	both.Go(func() { stuff(r.upstream, bytes.Repeat(dataRow("1"), 10_000)) })
	both.Go(func() { stuff(r.client, bytes.Repeat(copyData, 10_000)) })
	both.Wait()
	r.proxy.Drain(over())
	r.proxy.Wait()
}

func TestARoundTripThroughSocketsAllocatesNothing(t *testing.T) {
	r := newRig(t, &counter{})
	request, reply := query("SELECT 1"), join(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	got := make([]byte, len(request)+len(reply))
	round := func() {
		r.client.Write(request)
		if _, err := io.ReadFull(r.upstream, got[:len(request)]); err != nil {
			t.Fatal(err)
		}
		r.upstream.Write(reply)
		if _, err := io.ReadFull(r.client, got[:len(reply)]); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 && !raced {
		t.Errorf("%v allocations per round trip; expected none", n)
	}
}
