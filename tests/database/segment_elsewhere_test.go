//go:build full

package database

import (
	"fmt"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestDatabasesThatSwapTheirNamesGiveNoNumberTwice(t *testing.T) {
	t.Parallel() // looks must agree for a minute
	home, a, b := twoOfOneSpace(t)
	l := newLedger(t)
	nameA, nameB := server.Name(t, a), server.Name(t, b)
	p := l.serveIDs(home, "--databases", nameA+","+nameB, "--id-segments", nameA)
	p.Line("next_segment() is answered", "database="+nameB)
	throughA, throughB := server.In(t, p.URL, nameA), server.In(t, p.URL, nameB)
	ids := l.ids(p, a)
	l.draw(4, l.at(throughA), ids)
	l.draw(16, l.at(throughB), l.at(a), l.at(b))

	printed := p.Printed()
	admin := server.Connect(t, server.In(t, a, "postgres"))
	for _, name := range []string{nameA, nameB} {
		server.Do(t, admin, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
		server.Do(t, admin, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '"+name+"'")
	}
	server.Do(t, admin, "ALTER DATABASE "+nameA+" RENAME TO "+nameA+"_aside")
	server.Do(t, admin, "ALTER DATABASE "+nameB+" RENAME TO "+nameA)
	server.Do(t, admin, "ALTER DATABASE "+nameA+"_aside RENAME TO "+nameB)
	swapped := time.Now()
	for _, name := range []string{nameA, nameB} {
		server.Do(t, admin, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
	}
	for _, name := range []string{nameA, nameB} {
		p.LineFrom(printed, noticed, "database="+name)
		t.Logf("%s: noticed after %v", name, time.Since(swapped))
	}
	ids.database = l.at(a).database
	l.draw(16, l.at(throughA), l.at(throughB), l.at(a), l.at(b), ids)
}

// A pooler in session mode keeps the sessions that it has where they are. A proxy's own connections as well.
func TestAnAliasOfAPoolerThatMovesGivesNoNumberTwiceInAnySession(t *testing.T) {
	t.Parallel()
	home, a, b := twoOfOneSpace(t)
	l := newLedger(t)
	pooler, through := server.PoolerOf(t, "app", a)
	p := l.serveIDs(home, "--upstream", server.Parse(t, through).Host, "--databases", "app")
	app := server.In(t, p.URL, "app")
	before, ids := l.at(app), l.ids(p, a)
	l.draw(4, before, ids)
	l.draw(16, l.at(a))
	// the new database goes on with numbers that the function has just given in the old one
	server.Exec(t, b, fmt.Sprintf("UPDATE pgflurry.segment SET max_id = %d WHERE biz_tag = 'order'",
		l.highest(before.database)-1599))

	printed := p.Printed()
	pooler.Lead(b)
	moved := time.Now()
	p.LineFrom(printed, noticed)
	t.Logf("noticed after %v", time.Since(moved))
	after := l.at(app)
	if after.database == before.database {
		t.Fatal("a new session is at the old database, so this proves nothing")
	}
	ids.database = after.database
	l.draw(16, before, after, ids, l.at(a), l.at(b))
}

// A restore and --moved make two places at one address, so nothing is answered for a minute.
func TestAWholeRestoreThatAProxyCanSeeGivesNoNumberTwiceThoughItRuns(t *testing.T) {
	t.Parallel()
	givesNothingTwiceAfter(t, func(l *ledger, url, dump string) {
		l.tool("pg_restore", "--clean", "--if-exists", "--dbname", url, dump)
		l.tool(program.Path(l), "namespace", "move", "--database", url)
	})
}
