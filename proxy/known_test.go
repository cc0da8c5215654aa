package proxy

import (
	"strings"
	"testing"

	"pgflurry/proxy/internal/wire"
)

const ourText = "SELECT next_snowflake()"

func runOf(name string) []byte { return join(bind("", name), executeAll, syncIt) }

// learns prepares a named statement of ours, which upstream accepts.
func (r *rig) learns(name string) {
	r.t.Helper()
	r.relays(join(parse(name, ourText), syncIt), join(parseDone, ready('I')))
}

// knows checks that the proxy answers a named statement, knowsNot that it does not.
func (r *rig) knows(name, id string) {
	r.t.Helper()
	r.send(runOf(name))
	r.toClient(bindDone, dataRow(id), complete("SELECT 1"), ready('I'))
}

func (r *rig) knowsNot(name string) {
	r.t.Helper()
	r.relays(runOf(name), join(theirFailure, ready('I')))
}

func TestANamedStatementIsAnsweredOnceUpstreamHasAcceptedIt(t *testing.T) {
	r := newRig(t, &counter{})
	r.learns("s")
	r.knows("s", "1")
	r.relays(join(parse("refused", ourText), syncIt), join(theirFailure, ready('I')))
	r.knowsNot("refused")
	r.knows("s", "2") // an error that cannot have deallocated it changes nothing
}

func TestWhatMayHaveDeallocatedAStatementForgetsIt(t *testing.T) {
	named := func(text string) []byte {
		return join(parse("x", text), bind("x", "x"), message('E', z("x"), []byte{0, 0, 0, 0}), syncIt)
	}
	failed := join(theirFailure, ready('I'))
	for name, forgets := range map[string]struct{ request, reply []byte }{
		"DEALLOCATE":                      {query("DEALLOCATE s"), join(complete("DEALLOCATE"), ready('I'))},
		"DEALLOCATE ALL":                  {query("DEALLOCATE ALL"), join(complete("DEALLOCATE ALL"), ready('I'))},
		"DISCARD ALL":                     {query("DISCARD ALL"), join(complete("DISCARD ALL"), ready('I'))},
		"DO":                              {named("DO 'x'"), join(parseDone, bindDone, complete("DO"), ready('I'))},
		"CALL":                            {query("CALL x()"), join(complete("CALL"), ready('I'))},
		"a DO that fails":                 {named("DO 'x'"), failed},
		"a CALL that fails":               {query("/* x */ call x()"), failed},
		"the second of two that fails":    {query("DEALLOCATE ALL; SELECT 1/0"), failed},
		"the second of two, as it begins": {query("SELECT 1; DEALLOCATE ALL; SELECT 1/0"), failed},
		"a text that is too large":        {query("SELECT '" + strings.Repeat("x", 9000) + "'"), failed},
		"its Close": {
			join(message('C', []byte{'S'}, z("s")), syncIt), join(closeDone, ready('I')),
		},
		"its Close, and a Parse that fails": {
			join(message('C', []byte{'S'}, z("s")), parse("s", "bad"), syncIt),
			join(closeDone, theirFailure, ready('I')),
		},
		"a FunctionCall": {
			message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}), join(message('V', []byte{0, 0, 0, 0}), ready('I')),
		},
		"a Parse of its name":            {join(parse("s", "SELECT 5"), syncIt), failed},
		"a DO behind an empty statement": {named(";DO 'x'"), failed},
		"a DO whose text is too large":   {named(strings.Repeat(" ", 9000) + "DO 'x'"), failed},
		"a DO behind a long comment":     {named("--" + strings.Repeat("x", 9000) + "\nDO 'x'"), failed},
		"the Close of a name that the encoding decides about": {
			join(message('C', []byte{'S'}, z("\x81\x5f")), syncIt), join(closeDone, ready('I')),
		},
		"the Parse of a name that the encoding decides about": {
			join(parse("\x81\x5f", "SELECT 5"), syncIt), join(parseDone, ready('I')),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.learns("s")
			r.relays(forgets.request, forgets.reply)
			r.knowsNot("s")
		})
	}
}

func TestWhatCannotHaveDeallocatedAStatementForgetsNothing(t *testing.T) {
	failed := join(theirFailure, ready('I'))
	for name, spares := range map[string]struct{ request, reply []byte }{
		"a unique key": {query("INSERT INTO t VALUES (1);"), failed},
		"an extended statement": {
			join(parse("", "INSERT INTO t VALUES (1)"), bindIt, executeAll, syncIt),
			join(parseDone, bindDone, theirFailure, ready('I')),
		},
		"a long statement": {
			join(parse("x", "INSERT INTO t VALUES ('"+strings.Repeat(";", 9000)+"')"), syncIt), failed,
		},
		"DISCARD TEMP": {query("DISCARD TEMP"), join(complete("DISCARD TEMP"), ready('I'))},
		"several commands that succeed": {
			query("SELECT 1; RESET ALL"), join(complete("SELECT 1"), complete("RESET"), ready('I')),
		},
		"the Close of a portal": {join(message('C', []byte{'P'}, z("s")), syncIt), join(closeDone, ready('I'))},
		"the Close of another statement": {
			join(message('C', []byte{'S'}, z("s2")), syncIt), join(closeDone, ready('I')),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.learns("s")
			r.relays(spares.request, spares.reply)
			r.knows("s", "1")
		})
	}
}

// PostgreSQL uses 63 bytes of a name.
func TestNamesAreComparedAsPostgreSQLComparesThem(t *testing.T) {
	long := strings.Repeat("x", wire.NameBytes)
	r := newRig(t, &counter{})
	r.learns(long)
	r.knows(long, "1")
	r.relays(join(message('C', []byte{'S'}, z(long+"A")), parse(long+"B", "SELECT 5"), syncIt),
		join(closeDone, parseDone, ready('I')))
	r.knowsNot(long)
	r.learns(long + "A")
	r.knowsNot(long + "A") // PostgreSQL answers it, by the name as it knows it
}

func TestANameThatDependsOnTheEncodingIsNotRemembered(t *testing.T) {
	r := newRig(t, &counter{})
	r.learns("s\xe4")
	r.knowsNot("s\xe4")
}

func TestARowCountComesFromAParameterWhoseTypeIsKnown(t *testing.T) {
	r := newRig(t, &counter{})
	describe := func(name string) []byte { return message('D', []byte{'S'}, z(name)) }
	counted := func(name string) []byte {
		return join(message('B', z(""), z(name), []byte{0, 0, 0, 1, 0, 0, 0, 1, '2', 0, 0}), executeAll, syncIt)
	}
	none, types := message('t', []byte{0, 0}), message('t', []byte{0, 1, 0, 0, 0, 20})
	r.relays(join(parse("s", "SELECT * FROM next_snowflakes($1)"), syncIt), join(parseDone, ready('I')))
	r.relays(counted("s"), join(bindDone, complete("SELECT 0"), ready('I'))) // not described: the type of $1 is unknown
	r.relays(join(describe("other"), describe("s"), describe("other"), syncIt),
		join(none, ourRow, types, ourRow, none, ourRow, ready('I')))
	r.send(counted("s"))
	r.toClient(bindDone, dataRow("1"), dataRow("2"), complete("SELECT 2"), ready('I'))
}

func TestAClosedUnnamedStatementIsGone(t *testing.T) {
	r := newRig(t, &counter{})
	goodbye := message('C', []byte{'S', 0})
	r.requestAnswered("1", 'I')
	r.relays(join(goodbye, syncIt, runOf("")), join(closeDone, ready('I'), theirFailure, ready('I')))
	r.knowsNot("")
}

func TestTheUnnamedStatementIsGoneWithAForwardedQuery(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(parse("", ourText), message('D', []byte{'S', 0}), syncIt),
		join(parseDone, message('t', []byte{0, 0}), ourRow, ready('I')))
	r.knows("", "1")
	r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('I')))
	r.knowsNot("")
}

func TestAParseThatUpstreamRefusesIsNotTheUnnamedStatement(t *testing.T) {
	r := newRig(t, &counter{})
	r.relays(join(parse("", ourText), describeIt, syncIt), join(theirFailure, ready('I')))
	r.knowsNot("")
}
