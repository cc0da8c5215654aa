package proxy

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
)

// only is the rig's session.
func (r *rig) only() *pair {
	all, _ := r.proxy.registry.Open()
	return all[len(all)-1]
}

// waits returns when the client has to wait.
func (r *rig) waits() {
	r.t.Helper()
	c := r.only().conversation
	for end := time.Now().Add(giveUp); !c.Waits(); runtime.Gosched() {
		if time.Now().After(end) {
			r.t.Fatalf("with %d batches owed the client does not wait", c.Owed())
		}
	}
	if owed := c.Owed(); owed > conversation.MaxOwed+frame.BufferSize/frame.HeaderSize {
		r.t.Errorf("%d batches are owed; expected at most a buffer's more than %d", owed, conversation.MaxOwed)
	}
}

// takes reads the message n times at upstream.
func (r *rig) takes(message []byte, n int) {
	r.t.Helper()
	r.upstream.SetReadDeadline(time.Now().Add(giveUp))
	got := make([]byte, n*len(message))
	if k, err := io.ReadFull(r.upstream, got); err != nil {
		r.t.Fatalf("upstream got %d bytes of %d: %v", k, len(got), err)
	}
	if !bytes.Equal(got, bytes.Repeat(message, n)) {
		r.t.Fatal("upstream got something else than was sent")
	}
}

func TestAClientWaitsWhileUpstreamOwesTooMuchAndGoesOn(t *testing.T) {
	r := newRig(t, &counter{})
	const n = 10 * conversation.MaxOwed
	go r.client.Write(bytes.Repeat(query("x"), n))
	r.takes(query("x"), conversation.MaxOwed)
	r.waits()
	go r.upstream.Write(bytes.Repeat(ready('I'), n))
	go io.Copy(io.Discard, r.client)
	r.takes(query("x"), n-conversation.MaxOwed)
}

// A copy ignores Sync. A client that floods it with them does not have to wait.
func TestAClientThatFloodsACopyWithSyncsIsRelayed(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(query("COPY t FROM STDIN"), copyIn)
	const n = 20 * conversation.MaxOwed
	go r.client.Write(bytes.Repeat(syncIt, n))
	r.takes(syncIt, n)
	r.relays(join(copyData, copyDone), join(complete("COPY 1"), ready('I')))
}

func TestACopyWhoseEndIsUnderWayIsWaitedFor(t *testing.T) {
	r := newRig(t, &counter{})
	begin := query("COPY t FROM STDIN")
	r.relays(begin, copyIn)
	const n = 3 * conversation.MaxOwed
	rest := join(copyData, copyDone)
	go r.client.Write(join(rest, bytes.Repeat(query("x"), n)))
	r.takes(rest, 1)
	r.takes(query("x"), conversation.MaxOwed-1)
	r.waits()
	go r.upstream.Write(join(complete("COPY 1"), bytes.Repeat(ready('I'), n+1)))
	go io.Copy(io.Discard, r.client)
	r.takes(query("x"), n-conversation.MaxOwed+1)
}

func TestAWaitingClientsSessionEndsWithUpstream(t *testing.T) {
	r := newRig(t, &counter{})
	go r.client.Write(bytes.Repeat(syncIt, 10*conversation.MaxOwed))
	r.takes(syncIt, conversation.MaxOwed)
	r.waits()
	r.upstream.Close()
	if got := r.rest(r.client); bytes.Count(got, []byte("08006")) != 1 {
		t.Fatalf("the client got %q; expected FATAL 08006 once", got)
	}
	r.proxy.Wait()
}
