package database

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// Many drivers read the key of a row by lastval(). It was another number where the mark moves, about once a second.
func TestLastvalIsTheIDWhereTheLaneShowsIt(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	inserter := role(t, url, "inserts")
	owner := server.Connect(t, url)
	run(t, owner, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY); "+
		"GRANT INSERT, SELECT ON item TO inserts")
	inserts := func(conn *pgx.Conn, n int, before string) {
		for range n {
			if before != "" {
				run(t, owner, before)
			}
			id := value[int64](t, conn, "INSERT INTO item DEFAULT VALUES RETURNING id")
			if last := value[int64](t, conn, "SELECT lastval()"); last != id {
				t.Errorf("lastval() is %d behind ID %d", last, id)
				return
			}
		}
	}
	session := server.Connect(t, inserter)
	inserts(session, 200, "")
	inserts(session, 3, "SELECT setval('pgflurry.lane', 1 << 21)") // START
	inserts(owner, 3, "SELECT setval('pgflurry.lane', 1 << 21)")
	holder := server.Connect(t, url)
	run(t, holder, "BEGIN; LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE")
	inserts(session, 20, "") // the stand-in
	run(t, holder, "ROLLBACK")

	var all sync.WaitGroup
	for range 2 {
		for _, at := range []string{url, inserter} {
			conn := server.Connect(t, at)
			all.Go(func() { inserts(conn, 2000, "") })
		}
	}
	all.Wait()
}

// A client that reads it gets an error, and no wrong key.
func TestWhereTheLaneDoesNotShowTheIDOnlyTheOwnerReadsLastval(t *testing.T) {
	t.Parallel()
	for i, layout := range []string{"javascript", "40/0/10/12"} {
		url := server.MigratedWith(t, migrations.Settings{Layout: layout})
		conn := server.Connect(t, role(t, url, fmt.Sprint("inserts_by_layout_", i)))
		run(t, conn, "SELECT next_snowflake()")
		refused(t, conn, "42501", "SELECT lastval()")
	}
	url := server.Migrated(t)
	run(t, server.Connect(t, url), "ALTER TABLE pgflurry.namespace DISABLE TRIGGER ALL; "+
		"UPDATE pgflurry.namespace SET function_worker = 1; CALL pgflurry.install_next_snowflake()")
	conn := server.Connect(t, role(t, url, "inserts_of_worker_1"))
	run(t, conn, "SELECT next_snowflake()")
	refused(t, conn, "42501", "SELECT lastval()")
}
