package proxy

import (
	"bytes"
	"testing"
)

func TestAFinishedPortalLivesToTheEndOfItsTransaction(t *testing.T) {
	r := newRig(t, &counter{})
	prepare := parse("s", "SELECT 5")
	r.begins()
	r.unitAnswered("1", 'T')
	r.send(prepare, syncIt) // leaves the portal alone
	r.toUpstream(prepare, syncIt)
	r.reply(parseDone, ready('T'))
	r.toClient(parseDone, ready('T'))
	r.send(executeAll, syncIt)
	r.toClient(complete("SELECT 0"), ready('T'))
	r.relays(query("COMMIT"), join(complete("COMMIT"), ready('I')))
	r.send(executeAll, syncIt)
	r.toUpstream(executeAll, syncIt)
}

func TestAFinishedPortalOutlivesANamedOne(t *testing.T) {
	r := newRig(t, &counter{})
	r.begins()
	r.unitAnswered("1", 'T')
	named := join(parse("s", "SELECT 1"), bind("p", "s"), message('E', z("p"), []byte{0, 0, 0, 0}), syncIt)
	answer := join(parseDone, bindDone, dataRow("1"), complete("SELECT 1"), ready('T'))
	r.relays(named, answer)
	r.send(executeAll, syncIt)
	r.toClient(complete("SELECT 0"), ready('T'))
	chain := join(parse("s2", "COMMIT AND CHAIN"), bind("p", "s2"), message('E', z("p"), []byte{0, 0, 0, 0}), syncIt)
	committed := join(parseDone, bindDone, complete("COMMIT"), ready('T'))
	r.relays(chain, committed)
	r.send(executeAll, syncIt) // the portal went with its transaction
	r.toUpstream(closePortal, executeAll, syncIt)
}

// finishedInABlock draws an ID by a unit in a transaction block: its portal is there, and finished.
func finishedInABlock(t *testing.T) *rig {
	r := newRig(t, &counter{})
	r.begins()
	r.unitAnswered("1", 'T')
	return r
}

func TestAFinishedPortalIsThereBehindAForwardedMessageOfItsSegment(t *testing.T) {
	other := parse("s", "SELECT 5")
	for name, c := range map[string]struct{ use, answer []byte }{
		"Execute":  {executeAll, complete("SELECT 0")},
		"Describe": {describeIt, ourRow},
		"Close":    {message('C', []byte{'P', 0}), closeDone},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.send(ourParse, bindIt, executeAll, other, c.use)
			r.toClient(parseDone, bindDone, dataRow("1"), complete("SELECT 1"))
			r.toUpstream(firstExecute, other, flushMessage) // what upstream owes comes first
			r.reply(firstExecuted, parseDone)
			r.toClient(parseDone, c.answer)
			r.send(syncIt)
			r.toUpstream(syncIt)
		})
	}
}

func TestAFinishedPortalOfAFailedTransactionIsRefusedByUpstream(t *testing.T) {
	r := finishedInABlock(t)
	r.relays(join(bind("x", "unknown"), syncIt), join(theirFailure, ready('E')))
	r.send(executeAll, syncIt)
	r.toUpstream(refusedParse, closePortal, executeAll, syncIt)
	r.reply(theirFailure, ready('E'))
	r.toClient(theirFailure, ready('E')) // 25P02 in the Execute's place
	goodbye := message('C', []byte{'P', 0})
	r.relays(join(goodbye, syncIt), join(closeDone, ready('E')))
}

func TestAFinishedPortalIsNotWaitedForWhileUpstreamSkips(t *testing.T) {
	r := newRig(t, &counter{})
	bad := bind("x", "unknown")
	r.send(ourParse, bindIt, executeAll, bad, executeAll)
	r.toClient(parseDone, bindDone, dataRow("1"), complete("SELECT 1"))
	r.toUpstream(firstExecute, bad, flushMessage)
	r.reply(firstExecuted, theirFailure)
	r.toClient(theirFailure)
	r.toUpstream(closePortal, executeAll) // which upstream ignores
	r.send(syncIt)
	r.toUpstream(syncIt)
	r.reply(ready('I'))
	r.toClient(ready('I'))
	r.answersAgain("2")
}

func TestAFinishedPortalIsNotWaitedForWhileUpstreamCopiesIn(t *testing.T) {
	r := newRig(t, &counter{})
	begin := join(parse("c", "COPY t FROM STDIN"), bind("c", "c"), message('E', z("c"), []byte{0, 0, 0, 0}))
	r.send(ourParse, bindIt, executeAll, begin, executeAll)
	r.toClient(parseDone, bindDone, dataRow("1"), complete("SELECT 1"))
	r.toUpstream(firstExecute, begin, flushMessage)
	r.reply(firstExecuted, parseDone, bindDone, copyIn)
	r.toClient(parseDone, bindDone, copyIn)
	r.toUpstream(closePortal, executeAll) // an error to upstream, as without the proxy
}

func TestAFinishedPortalOutlivesAFunctionCall(t *testing.T) {
	r := finishedInABlock(t)
	call := message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	r.relays(call, join(message('V', []byte{0, 0, 0, 0}), ready('T')))
	r.send(executeAll, syncIt)
	r.toClient(complete("SELECT 0"), ready('T'))
}

func TestAFinishedPortalEndsWithItsImplicitTransaction(t *testing.T) {
	r := newRig(t, &counter{})
	named := func(name, text string) []byte {
		return join(parse(name, text), bind(name, name), message('E', z(name), []byte{0, 0, 0, 0}), syncIt)
	}
	r.send(ourParse, bindIt, executeAll, named("s", "SELECT 5"))
	r.toClient(parseDone, bindDone, dataRow("1"), complete("SELECT 1"))
	r.toUpstream(firstExecute, named("s", "SELECT 5"))
	done := join(parseDone, bindDone, dataRow("5"), complete("SELECT 1"), ready('I'))
	r.reply(firstExecuted, done)
	r.toClient(done)
	r.relays(named("b", "BEGIN"), join(parseDone, bindDone, complete("BEGIN"), ready('T')))
	r.send(executeAll, syncIt)
	r.toUpstream(closePortal, executeAll, syncIt)
}

func TestAFinishedPortalIsGoneWithItsClose(t *testing.T) {
	r := finishedInABlock(t)
	r.send(message('C', []byte{'P', 0}), executeAll, syncIt)
	r.toClient(closeDone)
	r.toUpstream(closePortal, executeAll, syncIt)
}

func TestAFinishedPortalEndsWithItsAnsweredSegment(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	r.send(executeAll, syncIt)
	r.toUpstream(closePortal, executeAll, syncIt)
}

func TestASessionThatOnlyRelaysEndsBeforeItUsesTheWrongPortal(t *testing.T) {
	r := finishedInABlock(t)
	stray := complete("of nothing that was sent")
	r.reply(stray)
	r.toClient(stray)
	r.send(executeAll, syncIt)
	if got := r.rest(r.upstream); len(got) > 0 {
		t.Fatalf("upstream, whose unnamed portal may be another, got %q", got)
	}
	if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
		t.Fatalf("the client got %q; expected FATAL 08P01", got)
	}
}
