package proxy

import (
	"bytes"
	"context"
	"runtime"
	"testing"
)

var (
	copyIn   = message('G', []byte{0, 0, 0})
	copyData = message('d', []byte("1\n"))
	copyDone = message('c')
)

// answersAgain checks that the session can still match replies to batches: it answers the next call from memory.
func (r *rig) answersAgain(id string) {
	r.t.Helper()
	r.send(ourQuery)
	r.toClient(ourRow, dataRow(id), complete("SELECT 1"), ready('I'))
}

func (r *rig) onlyRelays() {
	r.t.Helper()
	r.send(ourQuery)
	r.toUpstream(ourQuery)
}

func TestCopyInBySimpleQueryLeavesTheLedgerStraight(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(query("COPY t FROM STDIN"), copyIn)
	r.relays(join(copyData, copyDone), join(complete("COPY 1"), ready('I')))
	r.answersAgain("1")
}

// Nobody can know which of the Syncs upstream has read as part of the copy.
func TestBehindACopyInByTheExtendedProtocolTheSessionOnlyRelays(t *testing.T) {
	r := newRig(t, &counter{})
	begin := join(parse("", "COPY t FROM STDIN"), bindIt, executeAll, syncIt)
	r.relays(begin, join(parseDone, bindDone, copyIn))
	r.relays(join(copyData, copyDone, syncIt), join(complete("COPY 1"), ready('I')))
	r.onlyRelays()
}

func TestBehindWhatIsSentWhileAQueryCopiesInTheSessionOnlyRelays(t *testing.T) {
	begin, end := query("COPY t FROM STDIN"), join(copyData, copyDone)
	t.Run("before it is known to copy", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.relays(join(begin, syncIt), copyIn)
		r.relays(end, join(complete("COPY 1"), ready('I')))
		r.onlyRelays()
	})
	t.Run("afterwards", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.relays(begin, copyIn)
		r.send(syncIt)
		r.toUpstream(syncIt)
		r.relays(end, join(complete("COPY 1"), ready('I')))
		r.onlyRelays()
	})
	t.Run("but what is sent behind its end is not", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.relays(join(begin, end, syncIt), join(copyIn, complete("COPY 1"), ready('I'), ready('I')))
		r.answersAgain("1")
	})
	t.Run("nor what is sent when it has failed", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.relays(begin, join(copyIn, theirFailure))
		r.send(syncIt)
		r.toUpstream(syncIt)
		r.reply(ready('I'), ready('I'))
		r.toClient(ready('I'), ready('I'))
		r.answersAgain("1")
	})
}

func TestCopyDoneThatComesTooLateIsIgnored(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(query("COPY t FROM STDIN"), join(copyIn, theirFailure, ready('I')))
	r.send(copyData, copyDone)
	r.toUpstream(copyData, copyDone)
	r.answersAgain("1")
	// behind a batch that is owed a reply
	r.relays(join(query("SELECT 1"), copyDone), join(complete("SELECT 1"), ready('I')))
	r.relays(query("SELECT 2"), join(complete("SELECT 1"), ready('I')))
	r.answersAgain("2")
}

func TestAnErrorBehindACopyOfTheSameQueryIsNotTheCopys(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(query("COPY t FROM STDIN; SELECT 1/0"), copyIn)
	r.relays(join(copyData, copyDone, query("SELECT 1")), complete("COPY 1"))
	r.reply(theirFailure, ready('I'), complete("SELECT 1"), ready('I'))
	r.toClient(theirFailure, ready('I'), complete("SELECT 1"), ready('I'))
	r.answersAgain("1")
}

// If the batch has failed, upstream skips the Query and owes nothing for it.
func TestBehindAQueryInsideAnUnfinishedBatchTheSessionOnlyRelays(t *testing.T) {
	for name, inside := range map[string][]byte{
		"Query": query("SELECT 1"), "FunctionCall": message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.relays(join(bind("x", "unknown"), inside, syncIt), join(theirFailure, ready('I')))
			r.onlyRelays()
		})
	}
}

func TestAMalformedFlushIsAnErrorLikeAnyOtherToItsSync(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(message('H', []byte{'x'}), theirFailure)
	r.relays(join(parse("s", "SELECT 1"), syncIt), ready('I'))
	r.answersAgain("1")
}

func TestAfterAMessageThatEndsTheSessionNothingIsAnswered(t *testing.T) {
	for name, fatal := range map[string][]byte{
		"of no type that there is": message('y', z("what")), "a password after the login": message('p', z("secret")),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.send(fatal, ourQuery)
			r.toUpstream(fatal, ourQuery)
		})
	}
}

// lost is a session that only relays, with nothing in flight.
func lost(t *testing.T) *rig {
	r := newRig(t, &counter{})
	stray := complete("of nothing that was sent")
	r.reply(stray)
	r.toClient(stray)
	r.onlyRelays()
	r.reply(ready('I'))
	r.toClient(ready('I'))
	return r
}

func TestTheFATALOfAnUpstreamIsToldOnceWhereTheSessionOnlyRelays(t *testing.T) {
	r := lost(t)
	farewell := message('E', z("SFATAL"), z("VFATAL"), z("C57P01"), []byte{0})
	r.reply(farewell)
	r.upstream.Close()
	if got := r.rest(r.client); !bytes.Equal(got, farewell) {
		t.Fatalf("the client got %q; expected %q", got, farewell)
	}
}

// Then nobody knows whether upstream owes something.
func TestASessionThatOnlyRelaysIsSentAwayWhenTheDrainTimesOutAndNotBefore(t *testing.T) {
	r := lost(t)
	r.relays(query("SELECT 1"), ready('T'))
	r.send(query("COMMIT"))
	r.toUpstream(query("COMMIT"))
	timeout, end := context.WithCancel(context.Background())
	drained := make(chan struct{})
	go func() { r.proxy.Drain(timeout); close(drained) }()
	for !r.proxy.registry.Draining.Load() {
		runtime.Gosched()
	}
	r.reply(complete("COMMIT"), ready('I'))
	r.toClient(complete("COMMIT"), ready('I'))
	r.relays(query("SELECT 2"), join(complete("SELECT 1"), ready('I')))
	end()
	if got := r.rest(r.client); bytes.Count(got, []byte("57P01")) != 1 {
		t.Fatalf("the client got %q; expected FATAL 57P01", got)
	}
	<-drained
}
