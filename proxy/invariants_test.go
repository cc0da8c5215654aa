package proxy

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"pgflurry/internal/report"
	"pgflurry/proxy/internal/frame"
)

// The names of the tests have the numbers of the invariants in doc.go.

func TestInvariant1ForwardedBytesReachUpstreamUnchangedInOrder(t *testing.T) {
	r := newRig(t, &counter{})
	random := rand.New(rand.NewPCG(1, 2))
	var sent []byte
	for range 400 {
		// While a batch is open everything is forwarded, our own forms included.
		sent = append(sent, parse("s", "SELECT 1")...)
		sent = append(sent, ourParse...)
		sent = append(sent, bindIt...)
		sent = append(sent, query("SELECT "+string(bytes.Repeat([]byte{'x'}, random.IntN(3*frame.BufferSize))))...)
		sent = append(sent, message('d', bytes.Repeat([]byte{'y'}, random.IntN(100)))...)
	}
	go inPieces(r.client, sent, random)
	r.toUpstream(sent)
}

// inPieces writes b in pieces of random lengths.
func inPieces(to net.Conn, b []byte, random *rand.Rand) {
	for len(b) > 0 {
		n := min(len(b), 1+random.IntN(2*frame.BufferSize))
		to.Write(b[:n])
		b = b[n:]
	}
}

func TestInvariant2RepliesReachTheClientUnchangedInOrder(t *testing.T) {
	r := newRig(t, &counter{})
	random := rand.New(rand.NewPCG(3, 4))
	r.send(query("SELECT many"))
	r.toUpstream(query("SELECT many"))
	reply := message('T', []byte{0, 0})
	for range 500 {
		reply = append(reply, message('D', bytes.Repeat([]byte{'r'}, random.IntN(3*frame.BufferSize)))...)
		reply = append(reply, message('N', z("SNOTICE"), []byte{0})...)
	}
	reply = append(reply, complete("SELECT 500")...)
	reply = append(reply, ready('I')...)
	go inPieces(r.upstream, reply, random)
	r.toClient(reply)
}

func TestInvariant3AsynchronousMessagesNeverTearLocalReplies(t *testing.T) {
	r := newRig(t, &counter{})
	const queries, notices = 3000, 3000
	notice := message('A', []byte{0, 0, 0, 1}, z("channel"), z(string(bytes.Repeat([]byte{'n'}, 300))))
	go func() {
		for range notices {
			r.upstream.Write(notice)
		}
	}()
	go func() {
		for range queries {
			r.client.Write(ourQuery)
		}
	}()
	in := frame.NewInbox(r.client, frame.NewBuffers())
	r.client.SetReadDeadline(time.Now().Add(giveUp))
	seen := map[byte]int{}
	for seen['Z'] < queries || seen['A'] < notices {
		f, err := in.Await()
		if err != nil {
			t.Fatalf("after %v: %v", seen, err)
		}
		if f.Kind == 'A' && !bytes.Equal(f.Body, notice[frame.HeaderSize:]) {
			t.Fatalf("a notification was torn: %q", f.Body)
		}
		seen[f.Kind]++
		in.Drop(f.Size)
	}
	if seen['D'] != queries || seen['C'] != queries || seen['T'] != queries {
		t.Fatalf("%d queries were answered with %v", queries, seen)
	}
}

func TestInvariant4ALocalReplyIsWrittenOnlyWhileUpstreamOwesNothing(t *testing.T) {
	cases := map[string][]byte{
		"a Query is in flight":      query("SELECT 1"),
		"a FunctionCall":            message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}),
		"a Sync":                    syncIt,
		"an extended message":       parse("p", "SELECT 1"),
		"a segment without a Sync":  join(parse("", "SELECT 1"), flushIt),
		"a Close of the unknown":    message('C', []byte{'S'}, z("nothing")),
		"a transaction that failed": nil,
	}
	for name, before := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			if before == nil {
				r.relays(query("bad"), join(theirFailure, ready('E')))
			}
			r.send(before, ourQuery)
			r.toUpstream(before, ourQuery)
		})
	}
}

func TestInvariant5OneBindDrawsItsIDsOnce(t *testing.T) {
	ids := &counter{}
	r := newRig(t, ids)
	r.send(ourParse, bindIt, describeIt, executeAll, bindIt, executeAll, syncIt)
	r.toClient(parseDone, bindDone, ourRow, dataRow("1"), complete("SELECT 1"), bindDone, dataRow("2"),
		complete("SELECT 1"), ready('I'))
	again := join(ourParse, bindIt, executeAll, executeAll, syncIt) // the second Execute gives no row
	r.send(again)
	r.toUpstream(again)
	if n := ids.last.Load(); n != 2 {
		t.Fatalf("two Binds drew %d IDs", n)
	}
}

func TestInvariant6NoClaimedLengthIsAllocated(t *testing.T) {
	t.Run("a frame above the cap ends the session with a FATAL", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.send([]byte{'Q', 0x7f, 0xff, 0xff, 0xff})
		if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
			t.Fatalf("the client got %q; expected a FATAL 08P01", got)
		}
	})
	t.Run("a length below 4 ends the session with a FATAL", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.send([]byte{'Q', 0, 0, 0, 3})
		if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
			t.Fatalf("the client got %q; expected a FATAL 08P01", got)
		}
	})
	t.Run("before authentication the cap is 64 KiB", func(t *testing.T) {
		r := newRigBeforeStartup(t, &counter{})
		r.client.Write(startup("user", "u"))
		r.upstream = <-r.arrivals
		r.send([]byte{'p', 0, 1, 0, 4})
		if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
			t.Fatalf("the client got %q; expected a FATAL 08P01", got)
		}
	})
	t.Run("a large frame costs no memory of its size", func(t *testing.T) {
		r := newRig(t, &counter{})
		const size = 64 << 20
		go func() {
			r.client.Write([]byte{'Q', 4, 0, 0, 4})
			chunk := bytes.Repeat([]byte{'x'}, 1<<20)
			for range size / len(chunk) {
				r.client.Write(chunk)
			}
		}()
		before := heapTotal()
		r.upstream.SetReadDeadline(time.Now().Add(giveUp))
		if n, err := io.CopyN(io.Discard, r.upstream, size+frame.HeaderSize); err != nil {
			t.Fatalf("%d bytes came: %v", n, err)
		}
		if grown := heapTotal() - before; grown > 8<<20 {
			t.Fatalf("relaying one message of %d bytes allocated %d bytes", size, grown)
		}
	})
}

func TestInvariant7AnEndedSessionLeavesNothing(t *testing.T) {
	// goleak (TestMain) and Proxy.Wait (newRig) check the goroutines. Both connections must be closed.
	ends := map[string]func(r *rig){
		"Terminate":                   func(r *rig) { r.send(message('X')) },
		"client vanishes":             func(r *rig) { r.client.Close() },
		"client vanishes mid-message": func(r *rig) { r.send([]byte{'Q', 0, 0, 1, 0, 'S'}); r.client.Close() },
		"upstream dies":               func(r *rig) { r.upstream.Close() },
		"upstream dies mid-message":   func(r *rig) { r.reply([]byte{'D', 0, 0, 1, 0}); r.upstream.Close() },
		"malformed frame":             func(r *rig) { r.send([]byte{'Q', 0, 0, 0, 0}) },
		"malformed reply":             func(r *rig) { r.reply([]byte{'D', 0, 0, 0, 0}) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			client, upstream := r.client, r.upstream
			end(r)
			if name != "upstream dies" && name != "upstream dies mid-message" {
				r.rest(upstream)
				upstream.Close()
			}
			if name != "client vanishes" && name != "client vanishes mid-message" {
				r.rest(client)
			}
			r.proxy.Wait()
			if st := r.proxy.Stats(); st.Now != 0 || st.Opened != 1 {
				t.Fatalf("after the end: %+v", st)
			}
		})
	}
}

func TestInvariant8WithoutIDsTheStatementIsForwarded(t *testing.T) {
	ids := &counter{}
	ids.fail.Store(true)
	r := newRig(t, ids)
	request := join(ourParse, bindIt, describeIt, executeAll, syncIt)
	r.relays(ourQuery, join(ourRow, dataRow("7"), complete("SELECT 1"), ready('I')))
	r.send(request)
	r.toUpstream(request)
	if n := report.Total(r.proxy.Stats().Declined); n != 2 {
		t.Fatalf("Declined is %d; expected 2", n)
	}
}

func TestAWaitForIDsEndsInForwardingNotInAnError(t *testing.T) {
	r := newRig(t, never{})
	r.send(ourQuery)
	r.toUpstream(ourQuery)
}

// never is a generator whose tick stays full.
type never struct{}

func (never) TryNextN(int) (int64, int, error) { return 0, 0, nil }
func (never) NextN(ctx context.Context, _ int) (int64, int, error) {
	<-ctx.Done()
	return 0, 0, ctx.Err()
}
