package proxy

import (
	"bytes"
	"testing"

	"pgflurry/proxy/internal/wire"
)

// prepared is a session whose upstream has an unnamed statement of the client's, and in a block also a portal of it.
func prepared(t *testing.T, status byte) *rig {
	r := newRig(t, &counter{})
	if status == wire.StatusTransaction {
		r.begins()
	}
	r.relays(join(parse("", "DELETE FROM t"), bindIt, syncIt), join(parseDone, bindDone, ready(status)))
	return r
}

var closeStatement, closePortal = wire.CloseUnnamedStatement, wire.CloseUnnamedPortal

var callIt = message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0})

var other = join(parse("s", "SELECT 5"), bind("p", "s"), message('E', z("p"), []byte{0, 0, 0, 0}), syncIt)

func TestTheNextExtendedBatchBeginsWithTheCloseOfWhatAnAnsweredOneLeftBehind(t *testing.T) {
	both := join(closeStatement, closePortal)
	for name, c := range map[string]struct {
		status     byte
		next, sent []byte
	}{
		"a named statement":              {'I', other, closeStatement},
		"a Parse of a name":              {'I', join(parse("n", "SELECT 1"), syncIt), closeStatement},
		"a Parse that cannot be decoded": {'I', join(parse("", "SELECT '\xff'"), syncIt), closeStatement},
		"a Parse whose end is missing": {
			'I', join(message('P', z(""), z("SELECT 1"), []byte{0, 1}), syncIt), closeStatement,
		},
		"a Parse larger than the buffer": {
			'I', join(parse("", string(bytes.Repeat([]byte{'x'}, 9000))), syncIt), closeStatement,
		},
		"a Parse, behind a portal":      {'T', join(parse("", "SELECT 1"), syncIt), both},
		"but not a Parse that drops it": {'I', join(parse("", "SELECT 1"), syncIt), nil},
		"a Bind with a long name": {
			'I', join(bind("p", string(bytes.Repeat([]byte{'x'}, 9000))), syncIt), closeStatement,
		},
		"a Bind to a portal with such a name": {
			'I', join(bind(string(bytes.Repeat([]byte{'x'}, 9000)), ""), syncIt), join(closeStatement, ourParse),
		},
		"a Bind to a portal whose name PostgreSQL cuts": {
			'I', join(bind(string(bytes.Repeat([]byte{'x'}, 64)), ""), syncIt), join(closeStatement, ourParse),
		},
		"a Bind without the end of a name": {
			'I', join(message('B', []byte("x")), syncIt), closeStatement,
		},
		"a malformed Sync":    {'I', message('S', []byte{'x'}), closeStatement},
		"a malformed Flush":   {'I', join(message('H', []byte{'x'}), syncIt), closeStatement},
		"a portal in a block": {'T', join(executeAll, syncIt), both},
		"the statement that the client parsed": {
			'I', join(bindIt, executeAll, describeIt, syncIt), join(closeStatement, ourParse),
		},
		"the same, described": {
			'I', join(message('D', []byte{'S', 0}), syncIt), join(closeStatement, ourParse),
		},
		"the same, in a block": {
			'T', join(bindIt, describeIt, describeIt, syncIt), join(both, ourParse),
		},
		"a FunctionCall, which has no Sync": {'T', callIt, join(both, syncIt)},
		"nor a Query, which drops both":     {'T', query("SELECT 1"), nil},
		"nor a Sync, which uses none":       {'T', syncIt, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, c.status)
			r.requestAnswered("1", c.status)
			r.send(c.next)
			r.toUpstream(c.sent, c.next)
		})
	}
}

// If PostgreSQL cannot read a Query, that leaves the unnamed statement there. The next batch then closes it. The same
// holds for a Sync.
func TestAQueryAndASyncPutOffTheClose(t *testing.T) {
	for name, c := range map[string]struct{ between, reply []byte }{
		"a Query that cannot be decoded": {query("SELECT '\xff'"), join(theirFailure, ready('I'))},
		"a Sync":                         {syncIt, ready('I')},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, 'I')
			r.requestAnswered("1", 'I')
			r.relays(c.between, c.reply)
			r.send(other)
			r.toUpstream(closeStatement, other)
		})
	}
	t.Run("a Query that succeeds leaves nothing", func(t *testing.T) {
		r := prepared(t, 'T')
		r.requestAnswered("1", 'T')
		r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('T')))
		r.relays(other, join(parseDone, bindDone, complete("SELECT 1"), ready('T')))
	})
}

func TestBehindAQueryThatWasAnsweredThereIsNoStatement(t *testing.T) {
	r := prepared(t, 'I')
	r.send(ourQuery)
	r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	run := join(bindIt, executeAll, syncIt)
	r.send(run)
	r.toUpstream(closeStatement, run)
	r.reply(closeDone, theirFailure, ready('I'))
	r.toClient(theirFailure, ready('I')) // 26000, as without the proxy
	r.answersAgain("2")
}

func TestNothingIsClosedThatUpstreamDoesNotHave(t *testing.T) {
	for name, before := range map[string]func(r *rig) (status byte){
		"nothing was forwarded": func(*rig) byte { return 'I' },
		"a Query has dropped both": func(r *rig) byte {
			r.begins()
			r.relays(join(parse("", "SELECT 5"), bindIt, syncIt), join(parseDone, bindDone, ready('T')))
			r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('T')))
			return 'T'
		},
		"both were closed": func(r *rig) byte {
			r.begins()
			r.relays(join(parse("", "SELECT 5"), bindIt, syncIt), join(parseDone, bindDone, ready('T')))
			r.relays(join(closePortal, closeStatement, syncIt), join(closeDone, closeDone, ready('T')))
			return 'T'
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			status := before(r)
			r.requestAnswered("1", status)
			r.relays(other, join(parseDone, bindDone, complete("SELECT 1"), ready(status)))
		})
	}
}

func TestWhatUpstreamMayHaveIsClosedAlsoBehindABatchThatFailed(t *testing.T) {
	for name, failed := range map[string][]byte{
		"the Close may have been skipped": join(parse("", "SELECT 5"), bindIt, closePortal,
			closeStatement, syncIt),
		"a Query that was refused": query("bad"),
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, 'I')
			r.relays(failed, join(theirFailure, ready('I')))
			r.requestAnswered("1", 'I')
			r.send(other)
			r.toUpstream(closeStatement, other)
		})
	}
}

// The client gets the error, so that it does not believe that an aborted transaction goes on.
func TestOfTheRepliesToTheProxysOwnMessagesTheClientGetsErrorsAlone(t *testing.T) {
	notice, parameter := message('N', z("SNOTICE"), []byte{0}), message('S', z("a"), z("b"))
	farewell := message('E', z("SFATAL"), z("VFATAL"), z("C57P01"), []byte{0})
	rest := join(bindDone, ourRow, ourRow, ready('T'))
	for name, c := range map[string]struct{ reply, relayed []byte }{
		"as they should be": {join(closeDone, closeDone, parseDone, rest), rest},
		"what comes unasked": {
			join(notice, closeDone, closeDone, parameter, parseDone, rest), join(notice, parameter, rest),
		},
		"the portal's error": {join(closeDone, theirFailure, ready('E')), join(theirFailure, ready('E'))},
		"the Parse's error": {
			join(closeDone, closeDone, theirFailure, ready('E')), join(theirFailure, ready('E')),
		},
		"the end of the session": {farewell, farewell},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, 'T')
			r.requestAnswered("1", 'T')
			run := join(bindIt, describeIt, describeIt, syncIt)
			r.send(run)
			r.toUpstream(closeStatement, closePortal, ourParse, run)
			r.reply(c.reply)
			r.toClient(c.relayed)
			if name == "as they should be" {
				r.send(run) // from here on upstream has the statement
				r.toUpstream(run)
				r.reply(theirFailure, ready('T'))
				r.toClient(theirFailure, ready('T'))
				r.send(bindIt, executeAll, syncIt) // even if the batch fails
				r.toClient(bindDone, dataRow("2"), complete("SELECT 1"), ready('T'))
			}
		})
	}
}

func TestOfTheProxysOwnBatchBeforeAFunctionCallTheClientGetsErrorsAlone(t *testing.T) {
	result := message('V', []byte{0, 0, 0, 0})
	for name, c := range map[string]struct {
		reply, relayed []byte
		status         byte
	}{
		"as they should be": {
			join(closeDone, closeDone, ready('T'), result, ready('T')), join(result, ready('T')), 'T',
		},
		"the portal's error": {
			join(closeDone, theirFailure, ready('E'), theirFailure, ready('E')),
			join(theirFailure, theirFailure, ready('E')), 'E',
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, 'T')
			r.requestAnswered("1", 'T')
			r.send(callIt, query("COMMIT"))
			r.toUpstream(closeStatement, closePortal, syncIt, callIt, query("COMMIT"))
			r.reply(c.reply, complete("COMMIT"), ready('I'))
			r.toClient(c.relayed, complete("COMMIT"), ready('I'))
			r.answersAgain("2")
		})
	}
}

// What follows a Query that may copy in is sent only once PostgreSQL has begun to copy, or has run the Query. Behind
// the beginning of a copy nothing of the proxy's own is sent.
func TestBehindAQueryThatMayCopyTheCloseWaits(t *testing.T) {
	copies := query("/* all */ cOpY t FROM STDIN")
	for name, next := range map[string]struct{ sent, before []byte }{
		"a batch":        {other, closeStatement},
		"a FunctionCall": {callIt, join(closeStatement, syncIt)},
	} {
		for what, reply := range map[string][]byte{
			"it copies":   copyIn,
			"it fails":    join(theirFailure, ready('I')),
			"it has run":  join(complete("COPY 0"), ready('I')),
			"it hangs up": nil,
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				r := prepared(t, 'I')
				r.requestAnswered("1", 'I')
				r.send(copies, next.sent)
				r.toUpstream(copies)
				r.waits()
				if reply == nil {
					r.upstream.Close()
					r.rest(r.client)
					r.proxy.Wait()
					return
				}
				r.reply(reply)
				r.toClient(reply)
				if what == "it fails" { // else it has dropped both
					r.toUpstream(next.before)
				}
				r.toUpstream(next.sent)
			})
		}
	}
	t.Run("no other Query is waited for", func(t *testing.T) {
		r := prepared(t, 'I')
		r.requestAnswered("1", 'I')
		r.send(query("BEGIN"), other)
		r.toUpstream(query("BEGIN"), closeStatement, other)
	})
	t.Run("nor one behind which nothing needs a Close", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.requestAnswered("1", 'I')
		r.send(copies, other)
		r.toUpstream(copies, other)
	})
}

func TestAReplyThatCannotBeToldFromTheProxysOwnEndsTheSession(t *testing.T) {
	for name, stray := range map[string][]byte{
		"out of order": parseDone, "of nothing that was sent": complete("SELECT 1"), "too early": ready('I'),
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, 'I')
			r.requestAnswered("1", 'I')
			r.send(other)
			r.toUpstream(closeStatement, other)
			r.reply(stray)
			if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
				t.Fatalf("the client got %q; expected FATAL 08P01", got)
			}
		})
	}
}

func TestASessionThatOnlyRelaysEndsBeforeTheWrongStatementRuns(t *testing.T) {
	r := prepared(t, 'I')
	r.requestAnswered("1", 'I')
	stray := complete("of nothing that was sent")
	r.reply(stray)
	r.toClient(stray)
	r.send(bindIt, executeAll, syncIt)
	if got := r.rest(r.upstream); len(got) > 0 {
		t.Fatalf("upstream, whose unnamed statement is another, got %q", got)
	}
	if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
		t.Fatalf("the client got %q; expected FATAL 08P01", got)
	}
}

func TestTheUnnamedStatementCanBeBoundAgain(t *testing.T) {
	r := newRig(t, &counter{})
	r.requestAnswered("1", 'I')
	r.send(bindIt, executeAll, syncIt)
	r.toClient(bindDone, dataRow("2"), complete("SELECT 1"), ready('I'))
}

func TestTheUnnamedStatementIsGoneBehindAForwardedBatchThatDoesNotBeginWithIt(t *testing.T) {
	r := newRig(t, &counter{})
	r.requestAnswered("1", 'I')
	r.relays(other, join(parseDone, bindDone, complete("SELECT 1"), ready('I')))
	r.relays(join(bindIt, executeAll, syncIt), join(theirFailure, ready('I')))
}
