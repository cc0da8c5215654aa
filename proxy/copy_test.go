package proxy

import "testing"

var (
	copyIn   = message('G', []byte{0, 0, 0})
	copyData = message('d', []byte("1\n"))
	copyDone = message('c')
	copyFail = message('f', z("no"))
)

// answersAgain says that the session has not lost track: the next call is answered from memory.
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
	r.send(query("COPY t FROM STDIN"))
	r.toUpstream(query("COPY t FROM STDIN"))
	r.reply(copyIn)
	r.toClient(copyIn)
	r.send(copyData, copyDone)
	r.toUpstream(copyData, copyDone)
	r.reply(complete("COPY 1"), ready('I'))
	r.toClient(complete("COPY 1"), ready('I'))
	r.answersAgain("1")
}

func TestASyncDuringExtendedCopyInIsOwedNothing(t *testing.T) {
	r := newRig(t, &counter{})
	begin := join(parse("", "COPY t FROM STDIN"), bindIt, executeAll, syncIt)
	r.send(begin)
	r.toUpstream(begin)
	r.reply(parseDone, bindDone, copyIn)
	r.toClient(parseDone, bindDone, copyIn)
	r.send(copyData, copyDone, syncIt)
	r.toUpstream(copyData, copyDone, syncIt)
	r.reply(complete("COPY 1"), ready('I'))
	r.toClient(complete("COPY 1"), ready('I'))
	r.answersAgain("1")
}

func TestAnErrorDuringExtendedCopyInWithASyncInDoubtOnlyRelaysFromThereOn(t *testing.T) {
	r := newRig(t, &counter{})
	begin := join(parse("", "COPY t FROM STDIN"), bindIt, executeAll, syncIt)
	r.send(begin)
	r.toUpstream(begin)
	r.reply(parseDone, bindDone, copyIn)
	r.toClient(parseDone, bindDone, copyIn)
	r.send(copyFail, syncIt)
	r.toUpstream(copyFail, syncIt)
	r.reply(theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I'))
	r.onlyRelays()
}

func TestCopyDoneThatComesTooLateIsIgnored(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("COPY t FROM STDIN"))
	r.toUpstream(query("COPY t FROM STDIN"))
	r.reply(copyIn, theirFailure, ready('I'))
	r.toClient(copyIn, theirFailure, ready('I'))
	r.send(copyData, copyDone)
	r.toUpstream(copyData, copyDone)
	r.answersAgain("1")
}

func TestAQueryThatIsSkippedAfterAnErrorIsOwedNothing(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(bind("x", "unknown"), query("SELECT 1"), syncIt)
	r.toUpstream(bind("x", "unknown"), query("SELECT 1"), syncIt)
	r.reply(theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I'))
	r.answersAgain("1")
}

func TestWhatIsSentWhileUpstreamSkipsIsOwedNothing(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(bind("x", "unknown"), flushIt)
	r.toUpstream(bind("x", "unknown"), flushIt)
	r.reply(theirFailure)
	r.toClient(theirFailure)
	r.send(parse("s", "SELECT 1"), query("SELECT 1"), syncIt)
	r.toUpstream(parse("s", "SELECT 1"), query("SELECT 1"), syncIt)
	r.reply(ready('I'))
	r.toClient(ready('I'))
	r.answersAgain("1")
}
