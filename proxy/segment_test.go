package proxy

import (
	"context"
	"errors"
	"testing"

	"pgflurry/internal/report"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// tags gives 1, 2, 3, … for the tag "order" and refuses others. For "slow" it first waits until the caller's time is
// over.
type tags struct{ counter }

var errNoTag = errors.New("no such tag")

func (x *tags) TryNextN(tag []byte, n int) (int64, int, error) {
	switch string(tag) {
	case "order":
		return x.counter.TryNextN(n)
	case "slow":
		return 0, 0, nil
	}
	return 0, 0, errNoTag
}

func (x *tags) NextN(ctx context.Context, tag []byte, n int) (int64, int, error) {
	if string(tag) == "slow" {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	return x.TryNextN(tag, n)
}

// bindTag binds one text parameter.
func bindTag(value string) []byte {
	return message('B', z(""), z(""), []byte{0, 1, 0, 1, 0, 1, 0, 0, 0, byte(len(value))}, []byte(value), []byte{0, 0})
}

// parseTyped declares the type of the parameter.
func parseTyped(name, text string, oid uint16) []byte {
	return message('P', z(name), z(text), []byte{0, 1, 0, 0, byte(oid >> 8), byte(oid)})
}

var segmentRow = message('T', []byte{0, 1}, z("next_segment"),
	[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 8, 255, 255, 255, 255, 0, 0})

func TestNumbersOfATagAreAnsweredFromItsSource(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("SELECT next_segment('order')"))
	r.toClient(segmentRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	r.send(parse("", "SELECT pgflurry.next_segment($1)"), bindTag("order"), describeIt, executeAll, syncIt)
	r.toClient(parseDone, bindDone, segmentRow, dataRow("2"), complete("SELECT 1"), ready('I'))
	r.send(bindTag("order"), executeAll, syncIt)
	r.toClient(bindDone, dataRow("3"), complete("SELECT 1"), ready('I'))
	for _, oid := range []uint16{0, wire.OIDText, wire.OIDVarchar} {
		r.send(parseTyped("", "SELECT next_segment($1)", oid), bindTag("order"), executeAll, syncIt)
		r.toClient(parseDone, bindDone,
			dataRow(map[uint16]string{0: "4", wire.OIDText: "5", wire.OIDVarchar: "6"}[oid]),
			complete("SELECT 1"), ready('I'))
	}
	r.send(ourQuery)
	r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('I')) // IDs come from another source
}

func TestATagAndACountAreBoundTogether(t *testing.T) {
	r := newRig(t, &counter{})
	declared := message('t', []byte{0, 2, 0, 0, 0, 25, 0, 0, 0, 20})
	row := message('T', []byte{0, 1}, z("next_segments"),
		[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 8, 255, 255, 255, 255, 0, 0})
	r.relays(
		join(parse("s", "SELECT * FROM next_segments($1, $2)"), message('D', z("Ss")), syncIt),
		join(parseDone, declared, row, ready('I')))
	bound := func(formats []byte, count string) []byte {
		return message('B', z(""), z("s"), formats, []byte{0, 2, 0, 0, 0, 5}, []byte("order"),
			[]byte{0, 0, 0, byte(len(count))}, []byte(count), []byte{0, 0})
	}
	r.send(bound([]byte{0, 0}, "2"), executeAll, syncIt)
	r.toClient(bindDone, dataRow("1"), dataRow("2"), complete("SELECT 2"), ready('I'))
	r.send(bound([]byte{0, 2, 0, 0, 0, 1}, "\x00\x00\x00\x00\x00\x00\x00\x01"), executeAll, syncIt)
	r.toClient(bindDone, dataRow("3"), complete("SELECT 1"), ready('I'))
	r.relays(join(bound([]byte{0, 0}, "0"), executeAll, syncIt), join(theirFailure, ready('I')))
	r.relays(join(bound([]byte{0, 3, 0, 0, 0, 0, 0, 0}, "1"), executeAll, syncIt), join(theirFailure, ready('I')))
}

func TestATagThatGivesNothingIsForwarded(t *testing.T) {
	r := newRig(t, &counter{})
	for _, request := range [][]byte{
		query("SELECT next_segment('unknown')"),
		query("SELECT next_segment('slow')"), // after the patience
		join(parse("", "SELECT next_segment($1)"), bindTag("unknown"), executeAll, syncIt),
		join(parse("", "SELECT next_segment($1)"), bindTag(""), executeAll, syncIt),
		join(parse("", "SELECT next_segment($1)"), bindTag("\xc3\xa9"), executeAll, syncIt),
		join(parse("", "SELECT next_segment($1)"), bindTag("a\x00b"), executeAll, syncIt),
		// NULL.
		join(parse("", "SELECT next_segment($1)"),
			message('B', z(""), z(""), []byte{0, 0, 0, 1, 255, 255, 255, 255, 0, 0}), executeAll, syncIt),
		join(parse("", "SELECT next_segment($1)"), bindIt, executeAll, syncIt),
		join(parseTyped("", "SELECT next_segment($1)", wire.OIDInt8), bindTag("order"), executeAll, syncIt),
		join(parseTyped("", "SELECT next_segment('order')", wire.OIDText), bindTag("order"), executeAll, syncIt),
		query("SELECT next_segment($1)"),
	} {
		r.relays(request, join(theirFailure, ready('I')))
	}
	if n := report.Total(r.proxy.Stats().Declined); n != 3 {
		t.Errorf("%d statements are counted as declined, expected 3", n)
	}
}

func TestAFormIsPermittedByItsOwnNames(t *testing.T) {
	p, forms := &statement.Permission{}, map[string]*statement.Form{}
	for _, sql := range []string{
		"SELECT next_snowflake()", "SELECT next_segment('order')", "SELECT pgflurry.next_segment('order')",
	} {
		forms[sql], _ = statement.Match([]byte(sql))
	}
	for _, c := range []struct {
		permitted string
		answered  string
	}{
		{"next_snowflake", "SELECT next_snowflake()"},
		{"next_segment", "SELECT next_segment('order')"},
		{"pgflurry.next_segment", "SELECT pgflurry.next_segment('order')"},
		{"", ""},
	} {
		p.Set(statement.NamesOf(c.permitted))
		for sql, f := range forms {
			if p.Allows(f) != (sql == c.answered) {
				t.Errorf("with permission for %q, %q is answered: %v", c.permitted, sql, p.Allows(f))
			}
		}
	}
	p.Set(statement.AllNames)
	a := answers{permission: p}
	if a.may(forms["SELECT next_segment('order')"]) {
		t.Error("a session without a source of segments answers")
	}
}
