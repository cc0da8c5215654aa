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
	r.relays(query("COPY t FROM STDIN"), copyIn)
	r.relays(join(copyData, copyDone), join(complete("COPY 1"), ready('I')))
	r.answersAgain("1")
}

func TestASyncDuringExtendedCopyInIsOwedNothing(t *testing.T) {
	r := newRig(t, &counter{})
	begin := join(parse("", "COPY t FROM STDIN"), bindIt, executeAll, syncIt)
	r.relays(begin, join(parseDone, bindDone, copyIn))
	r.relays(join(copyData, copyDone, syncIt), join(complete("COPY 1"), ready('I')))
	r.answersAgain("1")
}

func TestAnErrorDuringExtendedCopyInWithASyncInDoubtOnlyRelaysFromThereOn(t *testing.T) {
	r := newRig(t, &counter{})
	begin := join(parse("", "COPY t FROM STDIN"), bindIt, executeAll, syncIt)
	r.relays(begin, join(parseDone, bindDone, copyIn))
	r.relays(join(copyFail, syncIt), join(theirFailure, ready('I')))
	r.onlyRelays()
}

func TestCopyDoneThatComesTooLateIsIgnored(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(query("COPY t FROM STDIN"), join(copyIn, theirFailure, ready('I')))
	r.send(copyData, copyDone)
	r.toUpstream(copyData, copyDone)
	r.answersAgain("1")
}

func TestAQueryThatIsSkippedAfterAnErrorIsOwedNothing(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(bind("x", "unknown"), query("SELECT 1"), syncIt), join(theirFailure, ready('I')))
	r.answersAgain("1")
}

func TestWhatIsSentWhileUpstreamSkipsIsOwedNothing(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(bind("x", "unknown"), flushIt), theirFailure)
	r.relays(join(parse("s", "SELECT 1"), query("SELECT 1"), syncIt), ready('I'))
	r.answersAgain("1")
}

func TestAfterAMessageThatEndsTheSessionNothingIsAnswered(t *testing.T) {
	for name, fatal := range map[string][]byte{"of no type that there is": message('y', z("what")), "a password after the login": message('p', z("secret"))} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.send(fatal, ourQuery)
			r.toUpstream(fatal, ourQuery)
		})
	}
}
