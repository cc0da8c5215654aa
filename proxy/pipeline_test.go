package proxy

import (
	"testing"

	"pgflurry/proxy/frame"
)

// firstExecuted is what upstream replies to firstExecute.
var firstExecuted = join(closeDone, parseDone, bindDone, complete("SELECT 0"), closeDone, closeDone)

var answeredUnit = join(parseDone, bindDone, dataRow("1"), complete("SELECT 1"))

func TestUpstreamExecutesSomethingBeforeWhatFollowsAnAnsweredUnit(t *testing.T) {
	for name, c := range map[string]struct{ first, reply []byte }{
		"Parse":                 {parse("", "SELECT 5"), parseDone},
		"Parse of a large text": {parse("", "SELECT 5"+string(make([]byte, 2*frame.BufferSize))), parseDone},
		"Bind":                  {bind("p", "s"), bindDone},
		"Describe":              {message('D', z("Ss")), message('n')},
		"Execute":               {message('E', z("p"), []byte{0, 0, 0, 0}), complete("SELECT 1")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.send(ourParse, bindIt, executeAll)
			r.toClient(answeredUnit)
			r.send(c.first)
			r.toUpstream(firstExecute, c.first)
			r.relays(join(c.first, syncIt), nil) // once
			r.reply(firstExecuted, c.reply, c.reply, ready('I'))
			r.toClient(c.reply, c.reply, ready('I'))
			r.answersAgain("2")
		})
	}
}

func TestUpstreamExecutesNothingWhereNothingIsExecutedBehindAnAnsweredUnit(t *testing.T) {
	closeS := message('C', z("Ss"))
	for name, c := range map[string]struct {
		begin, forwarded, reply []byte
		status                  byte
	}{
		"a Close and the Sync":            {nil, join(closeS, syncIt), join(closeDone, ready('I')), 'I'},
		"behind its Sync":                 {syncIt, join(parse("s", "x"), syncIt), join(parseDone, ready('I')), 'I'},
		"in a transaction block":          {nil, join(parse("s", "x"), syncIt), join(parseDone, ready('T')), 'T'},
		"behind an answered Query":        {ourQuery, join(parse("s", "x"), syncIt), join(parseDone, ready('I')), 'I'},
		"behind a Query":                  {nil, join(query("x"), parse("s", "x"), syncIt), join(complete("X"), ready('I'), parseDone, ready('I')), 'I'},
		"behind a FunctionCall":           {nil, join(message('F'), parse("s", "x"), syncIt), join(message('V'), ready('I'), parseDone, ready('I')), 'I'},
		"in the next segment, unanswered": {nil, join(closeS, syncIt, parse("s", "x"), syncIt), join(closeDone, ready('I'), parseDone, ready('I')), 'I'},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			if c.status == 'T' {
				r.begins()
			}
			r.send(ourParse, bindIt, executeAll, c.begin)
			r.toClient(answeredUnit)
			switch {
			case string(c.begin) == string(syncIt):
				r.toClient(ready('I'))
			case c.begin != nil:
				r.toClient(ourRow, dataRow("2"), complete("SELECT 1"), ready('I'))
			}
			r.relays(c.forwarded, c.reply)
		})
	}
}

// As if it had come for the client's message: a cancel request, or a timeout.
func TestAnErrorOfWhatUpstreamExecutesFirstIsTheClients(t *testing.T) {
	for done := range 4 {
		r := newRig(t, &counter{})
		other := join(parse("s", "SELECT 5"), bind("", "s"), executeAll, syncIt)
		r.send(ourParse, bindIt, executeAll, other)
		r.toClient(answeredUnit)
		r.toUpstream(firstExecute, other)
		r.reply(join([][]byte{closeDone, parseDone, bindDone}[:done]...), theirFailure, ready('I'))
		r.toClient(theirFailure, ready('I'))
		r.answersAgain("2")
	}
}
