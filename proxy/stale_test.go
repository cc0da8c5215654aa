package proxy

import (
	"bytes"
	"strconv"
	"testing"
)

// Each case of the table in stale.go, as a conversation.

func TestTheKeptParseIsSentBeforeAForwardedUseOfTheStatement(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	named := bind("p", "")
	r.send(named, syncIt)
	r.toUpstream(ourParse, named, syncIt)
	r.reply(parseDone, bindDone, ready('I'))
	r.toClient(bindDone, ready('I')) // the reply to the proxy's own Parse is swallowed
	r.send(named, syncIt)            // from here on upstream has the statement
	r.toUpstream(named, syncIt)
}

func TestAStatementThatALocalQueryDestroyedIsClosedUpstream(t *testing.T) {
	r := newRig(t, &counter{})
	theirs := parse("", "SELECT 5")
	r.relays(join(theirs, syncIt), join(parseDone, ready('I')))
	r.send(ourQuery)
	r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	r.send(bindIt, executeAll, syncIt)
	r.toUpstream(closeStatement, bindIt, executeAll, syncIt)
	r.reply(closeDone, theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I')) // 26000, as without the proxy
}

func TestAPortalThatALocalQueryDestroyedIsClosedUpstream(t *testing.T) {
	r := newRig(t, &counter{})
	r.begins()
	theirs := join(parse("", "SELECT 5"), bindIt, syncIt)
	r.relays(theirs, join(parseDone, bindDone, ready('T')))
	r.send(ourQuery)
	r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('T'))
	r.send(executeAll, syncIt)
	r.toUpstream(closePortal, executeAll, syncIt)
	r.reply(closeDone, theirFailure, ready('E'))
	r.toClient(theirFailure, ready('E')) // 34000, as without the proxy
}

// What it reads cannot be altered or dropped. One that was executed to its end is not in the way, and costs no message.
func TestAPortalThatWasReplacedIsClosedUpstreamBeforeANamedOneRunsIfItStillReads(t *testing.T) {
	theirs := join(parse("", "TABLE t"), bindIt, message('E', z(""), []byte{0, 0, 0, 1}), syncIt)
	named, execute := join(parse("d", "DROP TABLE t"), bind("d", "d")), message('E', z("d"), []byte{0, 0, 0, 0})
	for name, c := range map[string]struct{ end, mend, mended []byte }{
		"suspended": {message('s'), closePortal, closeDone},
		"complete":  {complete("SELECT 1"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.begins()
			r.relays(theirs, join(parseDone, bindDone, dataRow("7"), c.end, ready('T')))
			r.unitAnswered("1", 'T')
			r.send(named, execute, execute, syncIt)
			r.toUpstream(named, c.mend, execute, execute, syncIt)
			r.reply(parseDone, bindDone, c.mended, complete("DROP TABLE"), complete("SELECT 0"), ready('T'))
			r.toClient(parseDone, bindDone, complete("DROP TABLE"), complete("SELECT 0"), ready('T'))
			r.send(executeAll, syncIt) // the portal that the client has in its place
			r.toClient(complete("SELECT 0"), ready('T'))
		})
	}
}

func TestStalenessSurvivesAParseThatUpstreamSkipped(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	bad, theirs := bind("x", "unknown"), parse("", "SELECT 5")
	r.send(bad, theirs, syncIt, bindIt, syncIt) // two segments at once: the second has to wait for the first's fate
	r.toUpstream(bad, theirs, syncIt)
	r.reply(theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I'))
	r.toUpstream(ourParse, bindIt, syncIt)
	r.reply(parseDone, bindDone, ready('I'))
	r.toClient(bindDone, ready('I'))
}

func TestAnErrorToTheProxysOwnMessageIsRelayedInPlace(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	named := bind("p", "")
	r.send(named, syncIt)
	r.toUpstream(ourParse, named, syncIt)
	r.reply(theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I'))
}

func TestTheUnnamedStatementCanBeBoundAgain(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	r.send(bindIt, executeAll, syncIt)
	r.toClient(bindDone, dataRow("2"), complete("SELECT 1"), ready('I'))
}

func TestANamedStatementIsAnsweredOnceUpstreamHasAcceptedIt(t *testing.T) {
	r := newRig(t, &counter{})
	prepare := parse("s", "SELECT next_snowflake()")
	run := join(bind("", "s"), executeAll, syncIt)
	r.relays(join(prepare, syncIt), join(parseDone, ready('I')))
	r.send(run)
	r.toClient(bindDone, dataRow("1"), complete("SELECT 1"), ready('I'))
	for i, forget := range []string{"DEALLOCATE", "DEALLOCATE ALL", "DISCARD ALL"} {
		r.relays(query(forget), join(complete(forget), ready('I')))
		r.relays(run, join(theirFailure, ready('I')))
		r.relays(join(prepare, syncIt), join(parseDone, ready('I')))
		r.send(bind("", "s"), executeAll, syncIt)
		r.toClient(bindDone, dataRow(strconv.Itoa(i+2)), complete("SELECT 1"), ready('I'))
	}
}

func TestARefusedParseIsNotRemembered(t *testing.T) {
	r := newRig(t, &counter{})
	prepare := parse("s", "SELECT next_snowflake()")
	r.relays(join(prepare, syncIt), join(theirFailure, ready('I')))
	r.send(bind("", "s"), executeAll, syncIt)
	r.toUpstream(bind("", "s"), executeAll, syncIt)
}

func TestARowCountComesFromAParameterWhoseTypeIsKnown(t *testing.T) {
	r := newRig(t, &counter{})
	prepare := parse("s", "SELECT * FROM next_snowflakes($1)")
	describe := message('D', []byte{'S'}, z("s"))
	run := join(message('B', z(""), z("s"), []byte{0, 0, 0, 1, 0, 0, 0, 1, '2', 0, 0}), executeAll, syncIt)
	r.relays(join(prepare, syncIt), join(parseDone, ready('I')))
	r.send(run) // not described: the type of $1 is unknown
	r.toUpstream(run)
	r.reply(bindDone, complete("SELECT 0"), ready('I'))
	r.toClient(bindDone, complete("SELECT 0"), ready('I'))
	types := message('t', []byte{0, 1, 0, 0, 0, 20})
	r.relays(join(describe, syncIt), join(types, ourRow, ready('I')))
	r.send(run)
	r.toClient(bindDone, dataRow("1"), dataRow("2"), complete("SELECT 2"), ready('I'))
}

func TestAClosedUnnamedStatementIsGone(t *testing.T) {
	r := newRig(t, &counter{})
	goodbye := message('C', []byte{'S', 0})
	r.unitAnswered("1", 'I')
	r.send(goodbye, syncIt, bindIt, syncIt) // in one breath: the Bind has to wait for the fate of the Close
	r.toUpstream(goodbye, syncIt)
	r.reply(closeDone, ready('I'))
	r.toClient(closeDone, ready('I'))
	r.toUpstream(bindIt, syncIt)
	r.reply(theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I'))
	r.relays(join(bindIt, executeAll, syncIt), join(theirFailure, ready('I'))) // a whole unit is not answered either
}

func TestAQueryThatUpstreamRefusesToReadDestroysNothing(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	broken := message('Q', z("SELECT 1"), z("more"))
	r.relays(broken, join(refusal("08P01", "pq_getmsgend"), ready('I')))
	r.send(bindIt, executeAll, syncIt)
	r.toClient(bindDone, dataRow("2"), complete("SELECT 1"), ready('I'))
}

func refusal(code, routine string) []byte {
	return message('E', z("SERROR"), z("VERROR"), z("C"+code), z("Mno"), z("R"+routine), []byte{0})
}

// Whether upstream still has the client's own statement of before the unit is not known then: it must not run.
func TestAnOlderStatementIsNotRunBehindATextThatCannotBeDecoded(t *testing.T) {
	undecoded := refusal("22021", "report_invalid_encoding")
	for name, bad := range map[string][]byte{"Query": query("SELECT '\xff'"), "Parse": join(parse("", "SELECT '\xff'"), syncIt)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.relays(join(parse("", "DELETE FROM t"), syncIt), join(parseDone, ready('I')))
			r.unitAnswered("1", 'I')
			r.relays(bad, join(undecoded, ready('I')))
			r.send(bindIt, executeAll, syncIt)
			r.toUpstream(closeStatement, bindIt, executeAll, syncIt)
			r.reply(closeDone, theirFailure, ready('I'))
			r.toClient(theirFailure, ready('I'))
		})
	}
}

func TestABindInOneBreathWithAQueryWaitsForItsFate(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(parse("", "DELETE FROM t"), syncIt), join(parseDone, ready('I')))
	r.unitAnswered("1", 'I')
	bad := query("SELECT '\xff'")
	r.send(bad, bindIt, executeAll, syncIt)
	r.toUpstream(bad)
	r.reply(refusal("22021", "report_invalid_encoding"), ready('I'))
	r.toClient(refusal("22021", "report_invalid_encoding"), ready('I'))
	r.toUpstream(closeStatement, bindIt, executeAll, syncIt)
}

func TestAFlushThatUpstreamRefusesToReadIsFollowedByItsSync(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	r.relays(message('H', []byte{'x'}), theirFailure)
	r.relays(join(ourQuery, syncIt), ready('I')) // skipped
	r.answersAgain("2")
}

func TestABindBehindTheEndOfACopyWaitsForItsFate(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	r.relays(query("COPY t FROM STDIN"), copyIn)
	end := join(copyData, copyDone, syncIt)
	r.send(end, bindIt, executeAll, syncIt)
	r.toUpstream(end)
	r.reply(complete("COPY 1"), ready('I'), ready('I'))
	r.toClient(complete("COPY 1"), ready('I'), ready('I'))
	r.toUpstream(bindIt, executeAll, syncIt) // 26000: the Query has dropped the statement
}

func TestANamedStatementIsForgottenWithItsClose(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(parse("s", "SELECT next_snowflake()"), syncIt), join(parseDone, ready('I')))
	r.relays(join(message('C', []byte{'S'}, z("s")), syncIt), join(closeDone, ready('I')))
	r.relays(join(bind("", "s"), executeAll, syncIt), join(theirFailure, ready('I')))
}

func TestANameThatIsParsedAgainIsForgotten(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(parse("s", "SELECT next_snowflake()"), syncIt), join(parseDone, ready('I')))
	r.relays(join(parse("s", "SELECT 5"), syncIt), join(theirFailure, ready('I')))
	r.relays(join(bind("", "s"), executeAll, syncIt), join(bindDone, dataRow("7"), complete("SELECT 1"), ready('I')))
}

func TestNoMoreThanAThousandNamesAreRemembered(t *testing.T) {
	r := newRig(t, &counter{})
	for i := range maxNamed + 1 {
		r.relays(join(parse("s"+strconv.Itoa(i), "SELECT next_snowflake()"), syncIt), join(parseDone, ready('I')))
	}
	run := func(i int) []byte { return join(bind("", "s"+strconv.Itoa(i)), executeAll, syncIt) }
	r.relays(run(maxNamed), join(bindDone, dataRow("7"), complete("SELECT 1"), ready('I')))
	r.send(run(maxNamed - 1))
	r.toClient(bindDone, dataRow("1"), complete("SELECT 1"), ready('I'))
}

func TestAReplyThatCannotBeToldFromTheProxysOwnEndsTheSession(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	r.send(bind("p", ""), syncIt)
	r.toUpstream(ourParse, bind("p", ""), syncIt)
	r.reply(closeDone) // to nothing that was sent
	if got := r.rest(r.client); bytes.Contains(got, closeDone) || !bytes.Contains(got, []byte("08P01")) {
		t.Fatalf("the client got %q; expected FATAL 08P01 and no reply that may be the proxy's", got)
	}
}

func TestTheUnnamedStatementIsGoneWithAForwardedQuery(t *testing.T) {
	r := newRig(t, &counter{})
	r.unitAnswered("1", 'I')
	r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('I')))
	r.relays(join(bindIt, executeAll, syncIt), join(theirFailure, ready('I'))) // 26000, without a mend
}

func TestTheUnnamedStatementOutlivesATransactionInWhichItsMendIsRefused(t *testing.T) {
	r := newRig(t, &counter{})
	r.begins()
	r.unitAnswered("1", 'T')
	r.relays(join(bind("x", "unknown"), syncIt), join(theirFailure, ready('E')))
	r.send(bind("p", ""), syncIt)
	r.toUpstream(ourParse, bind("p", ""), syncIt)
	r.reply(theirFailure, ready('E'))
	r.toClient(theirFailure, ready('E'))
	rollback := join(parse("r", "ROLLBACK"), bind("r", "r"), message('E', z("r"), []byte{0, 0, 0, 0}), syncIt)
	r.relays(rollback, join(parseDone, bindDone, complete("ROLLBACK"), ready('I')))
	r.send(bindIt, executeAll, syncIt)
	r.toClient(bindDone, dataRow("2"), complete("SELECT 1"), ready('I'))
}

func TestAParseThatUpstreamRefusesIsNotTheUnnamedStatement(t *testing.T) {
	r := newRig(t, &counter{})
	refused := join(message('P', z(""), z("SELECT next_snowflake()"), []byte{0, 0}), describeIt, syncIt) // forwarded, for want of a Bind
	r.relays(refused, join(theirFailure, ready('I')))
	r.relays(join(bindIt, executeAll, syncIt), join(theirFailure, ready('I')))
}
