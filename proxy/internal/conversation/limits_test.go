package conversation

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// headerSize is the type and the length of a message.
const headerSize = 5

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func z(text string) []byte { return append([]byte(text), 0) }

// message frames a body.
func message(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// parses sends the Parse of a statement, without a Sync.
func (t *talk) parses(name, text string) {
	t.says(clientMessage{wire.FrontendParse, join(z(name), z(text), []byte{0, 0})}, false)
}

// learns prepares a statement, which upstream accepts.
func (t *talk) learns(name, text string) {
	t.parses(name, text)
	t.says(clientMessage{wire.FrontendSync, nil}, false)
	t.hears(len(t.coming))
}

// knows says whether a statement is answered. It does not answer it.
func (t *talk) knows(name string) bool {
	return t.willAnswer([]clientMessage{
		{wire.FrontendBind, join(z(""), z(name), make([]byte, 6))},
		{wire.FrontendExecute, join(z(""), make([]byte, 4))},
		{wire.FrontendSync, nil},
	})
}

func TestNoMoreThanAThousandNamesAreRememberedAtATime(t *testing.T) {
	talk := newTalk()
	fill := func(from string) {
		for i := range maxNamed + 1 {
			talk.learns(from+strconv.Itoa(i), oursText)
		}
	}
	fill("s")
	if talk.knows("s"+strconv.Itoa(maxNamed)) || !talk.knows("s"+strconv.Itoa(maxNamed-1)) {
		t.Errorf("the proxy does not remember exactly %d names", maxNamed)
	}
	talk.says(clientMessage{wire.FrontendQuery, z(wipeText)}, false)
	talk.hears(len(talk.coming))
	fill("t")
	if !talk.knows("t1") {
		t.Error("names that are gone leave no room for others")
	}
	talk.check(t.Fatalf)
}

func TestRememberedStatementsHaveALimitOfColumns(t *testing.T) {
	talk := newTalk()
	const wide = 50
	text := oursText + strings.Repeat(", next_snowflake()", wide-1)
	for i := range maxColumns/wide + 1 {
		talk.learns("w"+strconv.Itoa(i), text)
	}
	s := &talk.c.statements
	if s.columns != maxColumns {
		t.Errorf("statements of %d columns are remembered; expected %d", s.columns, maxColumns)
	}
	talk.says(clientMessage{wire.FrontendClose, append([]byte{wire.OfStatement}, z("w0")...)}, false)
	talk.learns("w0", "SELECT 1")
	if s.columns != maxColumns-wide {
		t.Errorf("after one is forgotten %d columns are remembered; expected %d", s.columns, maxColumns-wide)
	}
	talk.learns("narrow", oursText)
	if !talk.knows("narrow") {
		t.Error("a statement for which there is room is not remembered")
	}
	talk.check(t.Fatalf)
}

func TestFormsAreNotRememberedInADatabaseThatIsNeverAnswered(t *testing.T) {
	talk := newTalk()
	talk.c = New(Session{Unlisted: true, Allows: func(*statement.Form) bool { return false }}, NewBatches())
	talk.coming = []said{{wire.BackendReadyForQuery, "I"}}
	talk.hears(1)
	talk.learns("s", oursText)
	if talk.knows("s") {
		t.Error("a statement is answered")
	}
	if talk.c.statements.named["s"].form != neverAnswered {
		t.Error("the form of a statement is remembered")
	}
}

// However many names a batch without an end parses, it keeps no more.
func TestABatchMakesNoMoreThanAThousandNames(t *testing.T) {
	talk := newTalk()
	for range 3 * maxNamed {
		talk.parses("", oursText)
	}
	if n := len(talk.c.ledger.last().learns); n > maxNamed {
		t.Errorf("the batch would make %d statements", n)
	}
}

// A copy ignores Sync.
func TestASessionThatOnlyRelaysRemembersNothingThatIsOwed(t *testing.T) {
	talk := newTalk()
	talk.forward(clientMessage{wire.FrontendQuery, z("COPY t FROM STDIN")})
	if _, err := talk.c.TakeReply(wire.BackendCopyIn, nil); err != nil {
		t.Fatal(err)
	}
	for range 20 * MaxOwed {
		if _, err := talk.c.Forwards(wire.FrontendSync, nil, true); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(talk.c.ledger.entries); n > 2 || !talk.c.relaying {
		t.Errorf("the ledger remembers %d entries of a session that can only relay", n)
	}
}

func TestABurstLeavesNoRoomInTheLedger(t *testing.T) {
	talk := newTalk()
	for range 10 * MaxOwed {
		talk.forward(clientMessage{wire.FrontendSync, nil})
	}
	talk.hears(len(talk.coming))
	if c := cap(talk.c.ledger.entries); c > maxIdleEntries {
		t.Errorf("the ledger keeps room for %d entries", c)
	}
}
