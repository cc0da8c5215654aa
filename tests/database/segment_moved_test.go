package database

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// noticed is what a proxy logs when it drops the numbers of another database or table.
const noticed = "the tags are in another database or table than before"

// A ledger compares the numbers of tag "order", those of each database by itself.
type ledger struct {
	*testing.T
	mu    sync.Mutex
	given map[uint32]map[int64]bool // by oid of the database
}

func newLedger(t *testing.T) *ledger { return &ledger{T: t, given: map[uint32]map[int64]bool{}} }

// A seat is a session, with the database to which its numbers belong.
type seat struct {
	*pgx.Conn
	database uint32
}

// at opens a session. A query that a proxy forwards says which database it is at.
func (l *ledger) at(url string) seat {
	l.Helper()
	conn := server.Connect(l, url)
	return seat{conn, server.Value[uint32](l, conn, "SELECT oid FROM pg_database WHERE datname = current_database()")}
}

// ids is a session of a proxy's ID database. It draws the numbers of the database that now has the name.
func (l *ledger) ids(p *program.Proxy, direct string) seat {
	l.Helper()
	return seat{server.Connect(l, server.In(l, p.URL, "ids")), l.at(direct).database}
}

// take draws a hundred numbers and compares them.
func (l *ledger) take(s seat) error {
	l.Helper()
	drawn, err := tryNumbers(server.Within(l), s.Conn, "SELECT * FROM pgflurry.next_segments('order', 100)")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given[s.database] == nil {
		l.given[s.database] = map[int64]bool{}
	}
	for _, n := range drawn {
		if l.given[s.database][n] {
			l.Fatalf("number %d came twice in database %d, the second time by %s", n, s.database,
				s.Config().Database)
		}
		l.given[s.database][n] = true
	}
	return err
}

// draw draws so many hundreds from each session. A session of an ID database is tried until it gives some.
func (l *ledger) draw(hundreds int, seats ...seat) {
	l.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	for _, s := range seats {
		for i := 0; i < hundreds; {
			var said *pgconn.PgError
			switch err := l.take(s); {
			case err == nil:
				i++
			case ctx.Err() == nil && errors.As(err, &said) && (said.Code == "57P03" || said.Code == "0A000"):
				server.Pause(ctx, 50*time.Millisecond)
			default:
				l.Fatalf("%s: %v", s.Config().Database, err)
			}
		}
	}
}

// highest is the largest number so far in a database.
func (l *ledger) highest(database uint32) (n int64) {
	for given := range l.given[database] {
		n = max(n, given)
	}
	return n
}

// serveIDs starts a proxy with an ID database, and waits until it answers for segments.
func (l *ledger) serveIDs(direct string, more ...string) *program.Proxy {
	l.Helper()
	return serve(l, direct, "one", append([]string{"--id-database", "ids", "--id-auth", "trust"}, more...)...)
}

// twoOfOneSpace are two databases of one ID space, with the same tag, and their home.
func twoOfOneSpace(t *testing.T) (home, a, b string) {
	t.Helper()
	home, a, b = server.Migrated(t), server.Database(t), server.Database(t)
	for _, url := range []string{a, b} {
		if err := migrations.Up(server.Within(t), url, migrations.Settings{JoinURL: home}); err != nil {
			t.Fatal(err)
		}
		tag(t, url, "order", 2000)
	}
	return home, a, b
}

// Each of these sets the rows back while proxies run. The operator does what docs/segments.md says: before anybody
// draws, max_id rises above the numbers in the tables.
func TestARestoreThatAProxyCanSeeGivesNoNumberTwiceThoughItRuns(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]func(l *ledger, url, dump string){
		"the table alone, with --clean": func(l *ledger, url, dump string) {
			l.tool("pg_restore", "--clean", "--if-exists", "--schema=pgflurry", "--table=segment", "--dbname", url,
				dump)
			l.tool(program.Path(l), "migrate", "up", "--database", url) // its guards
		},
		"TRUNCATE, and the data alone": func(l *ledger, url, dump string) {
			server.Exec(l, url, "TRUNCATE pgflurry.segment")
			l.tool("pg_restore", "--data-only", "--schema=pgflurry", "--table=segment", "--dbname", url, dump)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			givesNothingTwiceAfter(t, restore)
		})
	}
}

// givesNothingTwiceAfter restores a database while a proxy runs that can see it.
func givesNothingTwiceAfter(t *testing.T, restore func(l *ledger, url, dump string)) {
	t.Helper()
	l := newLedger(t)
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	dump := filepath.Join(t.TempDir(), "dump")
	l.tool("pg_dump", "--format=custom", "--file", dump, direct)
	p := l.serveIDs(direct)
	ids := l.ids(p, direct)
	l.draw(4, l.at(p.URL), ids)

	printed := p.Printed()
	restore(l, direct, dump)
	conn := server.Connect(t, direct)
	if n := nextOf(t, conn, "order"); n != 1 {
		t.Fatalf("after the restore the next number is %d, so this proves nothing", n)
	}
	server.Do(t, conn, fmt.Sprintf("UPDATE pgflurry.segment SET max_id = %d WHERE biz_tag = 'order'",
		l.highest(ids.database)+1))
	p.LineFrom(printed, noticed)
	l.draw(16, l.at(p.URL), l.at(direct), ids)
}

// Nothing tells a proxy of these: the table is the same, and only its rows have gone back. So the operator stops the
// proxies, which skips what they have.
func TestARestoreThatNoProxyCanSeeGivesNoNumberTwiceIfItIsStoppedBefore(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]func(l *ledger, url, dump string){
		"DELETE, and the data alone": func(l *ledger, url, dump string) {
			server.Exec(l, url, "DELETE FROM pgflurry.segment")
			l.tool("pg_restore", "--data-only", "--schema=pgflurry", "--table=segment", "--dbname", url, dump)
		},
		"DELETE and INSERT": func(l *ledger, url, _ string) {
			server.Exec(l, url, "DELETE FROM pgflurry.segment; INSERT INTO pgflurry.segment (biz_tag) VALUES ('order')")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			direct := server.Migrated(t)
			tag(t, direct, "order", 2000)
			dump := filepath.Join(t.TempDir(), "dump")
			l.tool("pg_dump", "--format=custom", "--file", dump, direct)
			conn := server.Connect(t, direct)
			before := server.Value[string](t, conn, "SELECT pgflurry.segment_origin()")
			p := l.serveIDs(direct)
			ids := l.ids(p, direct)
			l.draw(4, l.at(p.URL), ids)

			p.Signal(syscall.SIGTERM)
			p.End()
			restore(l, direct, dump)
			if now := server.Value[string](t, conn, "SELECT pgflurry.segment_origin()"); now != before {
				t.Errorf("the origin was %s and is %s: a proxy can see it, and need not be stopped", before, now)
			}
			server.Do(t, conn, fmt.Sprintf("UPDATE pgflurry.segment SET max_id = %d WHERE biz_tag = 'order'",
				l.highest(ids.database)+1))
			p = l.serveIDs(direct)
			l.draw(16, l.at(p.URL), l.at(direct), l.ids(p, direct))
		})
	}
}

// VACUUM FULL and CLUSTER write the table anew. Nothing was set back, so it only costs the rest of the blocks.
func TestATableThatIsRewrittenCostsNoMoreThanTheRestOfTheBlocks(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	p := l.serveIDs(direct)
	session, ids := l.at(p.URL), l.ids(p, direct)
	l.draw(4, session, ids)
	for _, rewrite := range []string{"VACUUM FULL pgflurry.segment", "CLUSTER pgflurry.segment USING segment_pkey"} {
		printed := p.Printed()
		server.Exec(t, direct, rewrite)
		p.LineFrom(printed, noticed)
		l.draw(4, session, l.at(direct), ids)
	}
}

func TestAClosedDatabaseGivesNoNumberNotEvenFromMemory(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	p := l.serveIDs(direct)
	session, ids := l.at(p.URL), l.ids(p, direct)
	l.draw(1, session, ids)
	printed := p.Printed()
	l.tool(program.Path(t), "namespace", "close", "--database", direct)
	p.LineFrom(printed, noticed)
	p.LineFrom(printed, "next_segment() is relayed to PostgreSQL") // the look has ended
	for code, s := range map[string]seat{"SNF04": session, "0A000": ids} {
		var said *pgconn.PgError
		if err := l.take(s); !errors.As(err, &said) || said.Code != code {
			t.Errorf("%s: error %v, expected SQLSTATE %s", s.Config().Database, err, code)
		}
	}
}

// A role with nothing but the rights of grant_lease reads where the tags are, and reserves blocks.
func TestTheRoleOfALeaseSeesWhichTableHasTheTags(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	server.Exec(t, direct, "CREATE ROLE may_lease LOGIN; CALL pgflurry.grant_lease('may_lease')")
	t.Cleanup(func() { server.Exec(t, direct, "DROP OWNED BY may_lease; DROP ROLE may_lease") })
	p := l.serveIDs(direct, "--lease-database", server.As(t, direct, "may_lease", ""))
	ids := l.ids(p, direct)
	l.draw(1, ids)
	printed := p.Printed()
	server.Exec(t, direct, "VACUUM FULL pgflurry.segment")
	p.LineFrom(printed, noticed)
	l.draw(4, ids, l.at(direct))
}

// tool runs a program.
func (l *ledger) tool(name string, args ...string) {
	l.Helper()
	if !filepath.IsAbs(name) {
		name = server.Tool(l, name)
	}
	if out, err := exec.CommandContext(server.Within(l), name, args...).CombinedOutput(); err != nil {
		l.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
