package proxy

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"pgflurry/proxy/frame"
)

// only is the rig's session.
func (r *rig) only() (only *session) {
	r.proxy.each(func(s *session) { only = s })
	return only
}

// waits returns when the client has been made to wait.
func (r *rig) waits() {
	r.t.Helper()
	l := r.only().ledger
	for end := time.Now().Add(giveUp); l.awaited.Load() < 0; runtime.Gosched() {
		if time.Now().After(end) {
			r.t.Fatalf("with %d replies outstanding the client does not wait", l.open.Load())
		}
	}
	if open := l.open.Load(); open > maxOpen+frame.BufferSize/frame.HeaderSize {
		r.t.Errorf("%d replies are outstanding; expected at most a buffer's more than %d", open, maxOpen)
	}
}

// takes reads n messages of the given bytes at upstream.
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
	const n = 10 * maxOpen
	go r.client.Write(bytes.Repeat(query("x"), n))
	r.takes(query("x"), maxOpen)
	r.waits()
	go r.upstream.Write(bytes.Repeat(ready('I'), n))
	go io.Copy(io.Discard, r.client)
	r.takes(query("x"), n-maxOpen)
}

func TestAnUpstreamThatKeepsItsRepliesUntilItIsAskedIsAsked(t *testing.T) {
	r := newRig(t, &counter{})
	const n = 4 * maxOpen
	goodbye := message('C', []byte{'S'}, z("s"))
	go r.client.Write(join(bytes.Repeat(goodbye, n), syncIt))
	asked := make(chan int, 1)
	go func() {
		asked <- r.repliesWhenAsked()
	}()
	r.toClient(bytes.Repeat(closeDone, n), ready('I'))
	if times := <-asked; times == 0 {
		t.Error("upstream was not asked for its replies")
	}
	r.answersAgain("1")
}

// repliesWhenAsked plays an upstream that keeps its CloseCompletes until a Flush or a Sync comes, up to the first Sync. It returns
// how many Flushes came.
func (r *rig) repliesWhenAsked() (flushes int) {
	in, kept := frame.NewInbox(r.upstream, frame.NewBuffers()), 0
	for {
		f, err := in.Await()
		if err != nil {
			r.t.Errorf("after %d Flushes: %v", flushes, err)
			return flushes
		}
		in.Drop(f.Size)
		switch f.Kind {
		case 'C':
			kept++
			continue
		case 'H':
			flushes++
		}
		r.upstream.Write(bytes.Repeat(closeDone, kept))
		kept = 0
		if f.Kind == 'S' {
			r.upstream.Write(ready('I'))
			return flushes
		}
	}
}

// A copy ignores Sync. Who sends more of them than anybody would is not waited for, and not remembered.
func TestAClientThatFloodsACopyWithSyncsIsRelayedAndCostsNoMemory(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(query("COPY t FROM STDIN"), copyIn)
	const n = 20 * maxOpen
	go r.client.Write(bytes.Repeat(syncIt, n))
	r.takes(syncIt, n)
	r.relays(join(copyData, copyDone), join(complete("COPY 1"), ready('I')))
	l := r.only().ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) > 0 || !l.lost.Load() {
		t.Errorf("the ledger remembers %d entries of a session that can only relay", len(l.entries))
	}
}

func TestACopyWhoseEndIsUnderWayIsWaitedFor(t *testing.T) {
	r := newRig(t, &counter{})
	begin := query("COPY t FROM STDIN")
	r.relays(begin, copyIn)
	const n = 3 * maxOpen
	rest := join(copyData, copyDone)
	go r.client.Write(join(rest, bytes.Repeat(query("x"), n)))
	r.takes(rest, 1)
	r.takes(query("x"), maxOpen-1)
	r.waits()
	go r.upstream.Write(join(complete("COPY 1"), bytes.Repeat(ready('I'), n+1)))
	go io.Copy(io.Discard, r.client)
	r.takes(query("x"), n-maxOpen+1)
}

// Upstream owes nothing for the Syncs then, and keeps its reply to the copy.
func TestACopyThatIgnoredMoreSyncsThanAnybodySendsIsAskedForItsEnd(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(parse("c", "COPY t FROM STDIN"), bind("", "c"), executeAll, flushIt), join(parseDone, bindDone, copyIn))
	const n = maxOpen - 1
	go r.client.Write(join(bytes.Repeat(syncIt, n), copyDone))
	r.takes(syncIt, n)
	r.toUpstream(copyDone, flushMessage)
	r.reply(complete("COPY 0"))
	r.toClient(complete("COPY 0"))
	rest := join(ourParse, bindIt, executeAll, syncIt) // the copy is committed by this Sync, and no other
	r.relays(rest, join(parseDone, bindDone, dataRow("7"), complete("SELECT 1"), ready('I')))
	r.answersAgain("1")
}

func TestAWaitingClientsSessionEndsWithUpstream(t *testing.T) {
	r := newRig(t, &counter{})
	go r.client.Write(bytes.Repeat(syncIt, 10*maxOpen))
	r.takes(syncIt, maxOpen)
	r.waits()
	r.upstream.Close()
	if got := r.rest(r.client); bytes.Count(got, []byte("08006")) != 1 {
		t.Fatalf("the client got %q; expected FATAL 08006 once", got)
	}
	r.proxy.Wait()
}
