package conversation

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// talk is a conversation between a client and a model of PostgreSQL, next to the same client and a model without a
// proxy. Messages of upstream may be in flight for any time.
type talk struct {
	c        *Conversation
	upstream *postgres
	direct   *postgres
	held     []clientMessage
	coming   []said // from upstream; the conversation has not taken it yet
	heard    []said // by the client of the proxy
	expected []said // by the client without a proxy
	answered int
	// An answered batch leaves these in direct. The proxy does not promise them to its client.
	portal, parsed bool
	fresh          bool // the next message begins a batch
}

type clientMessage struct {
	kind byte
	body []byte
}

func newTalk() *talk {
	t := &talk{upstream: newPostgres(), direct: newPostgres(), fresh: true}
	t.c = New(Session{Allows: func(*statement.Form) bool { return true }}, NewBatches())
	t.coming = []said{{wire.BackendReadyForQuery, "I"}}
	t.hears(1)
	return t
}

// hears lets the conversation take some messages of upstream.
func (t *talk) hears(n int) {
	for ; n > 0 && len(t.coming) > 0; n-- {
		relay, err := t.c.TakeReply(t.coming[0].kind, []byte(t.coming[0].body))
		if err != nil {
			panic(err)
		}
		if relay && !(len(t.heard) == 0 && t.answered == 0 && len(t.expected) == 0) { // all except the startup's
			t.heard = append(t.heard, t.coming[0])
		}
		t.coming = t.coming[1:]
	}
	t.c.Relayed()
}

// says lets the client send a message. decline makes the IDs run out.
func (t *talk) says(m clientMessage, decline bool) {
	t.sayDirectly(m)
	d := t.c.Hear(m.kind, m.body, headerSize+len(m.body))
	switch {
	case d == Hold:
		t.held = append(t.held, m)
		return
	case d == Answer && !decline:
		t.answer(m)
		return
	}
	t.c.Release()
	for _, h := range append(t.held, m) {
		t.forward(h)
	}
	t.held = nil
}

func (t *talk) forward(m clientMessage) {
	before, err := t.c.Forwards(m.kind, m.body, true)
	if err != nil {
		panic(err)
	}
	for len(before) > 0 {
		size := int(before[4]) + 1
		t.coming = append(t.coming, t.upstream.take(before[0], before[headerSize:size])...)
		before = before[size:]
	}
	t.coming = append(t.coming, t.upstream.take(m.kind, m.body)...)
}

// answer does what the session does: the client gets what the held messages ask for.
func (t *talk) answer(m clientMessage) {
	if len(t.coming) > 0 || t.upstream.status == wire.StatusFailed {
		panic("answered while upstream owes something, or in a failed transaction")
	}
	t.answered++
	say := func(kind byte, body string) { t.heard = append(t.heard, said{kind, body}) }
	if m.kind == wire.FrontendQuery {
		say(wire.BackendDataRow, "an ID")
		say(wire.BackendCommandComplete, "SELECT 1\x00")
		t.c.AnsweredQuery()
		t.portal, t.parsed = true, false
	} else {
		var bytes []byte
		for _, h := range t.held {
			bytes = append(bytes, message(h.kind, h.body)...)
		}
		for _, u := range t.c.Batch().Requests {
			if u.Parsed {
				say(wire.BackendParseComplete, "")
				t.parsed = true
			}
			if u.Asked {
				say(wire.BackendParameterDescription, "\x00\x00")
				say(wire.BackendRowDescription, oursText)
			}
			say(wire.BackendBindComplete, "")
			if u.Shown {
				say(wire.BackendRowDescription, oursText)
			}
			say(wire.BackendDataRow, "an ID")
			say(wire.BackendCommandComplete, "SELECT 1\x00")
			if u.Closed {
				say(wire.BackendCloseComplete, "")
			}
		}
		t.c.AnsweredBatch(bytes)
		t.held, t.portal = nil, true
	}
	say(wire.BackendReadyForQuery, string(t.c.Status()))
}

// sayDirectly sends the message to PostgreSQL without a proxy. That model has forgotten what an answered batch leaves
// behind, as docs/protocol.md says.
func (t *talk) sayDirectly(m clientMessage) {
	t.expected = append(t.expected, t.direct.take(m.kind, m.body)...)
}

var (
	modelNames = []string{
		"", "n", strings.Repeat("x", 63), strings.Repeat("x", 63) + "A", strings.Repeat("x", 63) + "B",
	}
	modelTexts = []string{
		oursText, oursText, oursText, "SELECT 1", badText, failText, wipeText, slyText, twoText, undecodable, "",
		"BEGIN", "COMMIT", "ROLLBACK",
	}
)

// drawBatch draws the messages up to a Sync, or a Query.
func drawBatch(t *rapid.T) (batch []clientMessage) {
	name := rapid.SampledFrom(append([]string{"", "", ""}, modelNames...))
	text := rapid.SampledFrom(modelTexts)
	add := func(kind byte, body []byte) { batch = append(batch, clientMessage{kind, body}) }
	target := func(what byte, name string) []byte { return append([]byte{what}, z(name)...) }
	switch rapid.IntRange(0, 19).Draw(t, "batch") % 11 {
	case 10:
		return []clientMessage{{wire.FrontendFunctionCall, nil}}
	case 0, 1:
		add(wire.FrontendQuery, z(text.Draw(t, "text")))
		return batch
	case 2: // a driver prepares a statement
		add(wire.FrontendParse, join(z(rapid.SampledFrom(modelNames).Draw(t, "name")), z(oursText), []byte{0, 0}))
		add(wire.FrontendSync, nil)
		return batch
	case 3: // and runs it
		add(wire.FrontendBind, join(z(""), z(rapid.SampledFrom(modelNames).Draw(t, "name")), make([]byte, 6)))
		add(wire.FrontendExecute, join(z(""), make([]byte, 4)))
		add(wire.FrontendSync, nil)
		return batch
	case 4: // and closes it
		add(wire.FrontendClose, target(wire.OfStatement, rapid.SampledFrom(modelNames).Draw(t, "name")))
		add(wire.FrontendSync, nil)
		return batch
	}
	for range rapid.IntRange(0, 4).Draw(t, "requests") {
		switch rapid.IntRange(0, 30).Draw(t, "request") % 11 {
		case 0, 1, 2, 3: // the usual messages of a driver
			from := ""
			if rapid.Bool().Draw(t, "parses") {
				add(wire.FrontendParse, join(z(""), z(text.Draw(t, "text")), []byte{0, 0}))
			} else {
				from = name.Draw(t, "name")
			}
			add(wire.FrontendBind, join(z(""), z(from), make([]byte, 6)))
			if rapid.Bool().Draw(t, "describes") {
				add(wire.FrontendDescribe, target(wire.OfPortal, ""))
			}
			add(wire.FrontendExecute, join(z(""), make([]byte, 4)))
		case 4:
			add(wire.FrontendParse, join(z(name.Draw(t, "name")), z(text.Draw(t, "text")), []byte{0, 0}))
		case 5:
			add(wire.FrontendBind, join(z(rapid.SampledFrom([]string{"", "p"}).Draw(t, "portal")),
				z(name.Draw(t, "name")),
				make([]byte, 6)))
		case 6:
			add(wire.FrontendDescribe,
				target(rapid.SampledFrom([]byte{wire.OfPortal, wire.OfStatement}).Draw(t, "what"),
					name.Draw(t, "name")))
		case 7:
			add(wire.FrontendExecute, join(z(rapid.SampledFrom([]string{"", "", "p"}).Draw(t, "portal")),
				make([]byte, 4)))
		case 8:
			add(wire.FrontendClose,
				target(rapid.SampledFrom([]byte{wire.OfPortal, wire.OfStatement}).Draw(t, "what"),
					name.Draw(t, "name")))
		case 9:
			add(wire.FrontendFlush, make([]byte, rapid.IntRange(0, 1).Draw(t, "flush")))
		case 10:
			if rapid.IntRange(0, 9).Draw(t, "rare") < 3 { // after this the session only relays
				add(wire.FrontendQuery, z(text.Draw(t, "text")))
			}
		}
	}
	add(wire.FrontendSync, nil)
	return batch
}

// forgets makes direct forget what the proxy promises no client: the objects of an answered batch. They are gone with
// the next batch that is forwarded, unless that begins by using them.
func (t *talk) forgets(batch []clientMessage) {
	if !t.portal || batch[0].kind == wire.FrontendSync {
		return
	}
	delete(t.direct.portals, "")
	if t.parsed && !usesUnnamed(batch[0].kind, batch[0].body, true) {
		t.direct.unnamed = nil
	}
	t.portal, t.parsed = false, false
}

// sayBatch sends a batch, after it has found out whether the proxy will answer it.
func (t *talk) sayBatch(batch []clientMessage, decline bool) {
	for batch[0].kind == wire.FrontendFlush && len(batch[0].body) == 0 { // it begins no batch
		t.says(batch[0], decline)
		batch = batch[1:]
	}
	if batch[0].kind == wire.FrontendQuery && len(batch) > 1 { // it is a batch of its own
		t.sayBatch(batch[:1], decline)
		batch = batch[1:]
	}
	if !t.willAnswer(batch) || decline {
		t.forgets(batch)
	}
	for _, m := range batch {
		t.says(m, decline)
	}
}

// willAnswer tries whether the proxy answers the batch.
func (t *talk) willAnswer(batch []clientMessage) bool {
	defer t.c.Release()
	for _, m := range batch {
		switch t.c.Hear(m.kind, m.body, headerSize+len(m.body)) {
		case Answer:
			return true
		case Forward:
			return false
		}
	}
	return false
}

func (t *talk) check(f func(format string, args ...any)) {
	t.hears(len(t.coming))
	if !slices.Equal(t.heard, t.expected) {
		n := 0
		for n < len(t.heard) && n < len(t.expected) && t.heard[n] == t.expected[n] {
			n++
		}
		f("the client heard %v\nexpected         %v\nwhich differ from %d on", t.heard, t.expected, n)
	}
}

func TestAConversationIsThatOfPostgreSQLWhateverIsAnswered(t *testing.T) {
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := flag.Set("rapid.checks", "20000"); err != nil { // takes half a second
			t.Fatal(err)
		}
	}
	answered, batches := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		talk := newTalk()
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			talk.sayBatch(drawBatch(t), rapid.IntRange(0, 4).Draw(t, "declines") == 0)
			if rapid.IntRange(0, 2).Draw(t, "waits") > 0 {
				talk.hears(len(talk.coming))
			} else {
				talk.hears(rapid.IntRange(0, len(talk.coming)).Draw(t, "hears"))
			}
			batches++
		}
		talk.check(t.Fatalf)
		answered += talk.answered
	})
	if answered < batches/30 {
		t.Errorf("%d of %d batches were answered; expected more", answered, batches)
	}
	t.Logf("%d batches, %d of them answered", batches, answered)
}
