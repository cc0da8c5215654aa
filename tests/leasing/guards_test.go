package leasing

import (
	"fmt"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestASessionThatLooksLikeASubscriptionIsToldThatItChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("SET session_replication_role = replica")
	for _, statement := range []string{
		"UPDATE pgflurry.worker SET term = term + 1, owner = gen_random_uuid() WHERE worker = 1",
		"UPDATE pgflurry.worker SET reserved_until = reserved_until + 1 WHERE worker = 1",
		"UPDATE pgflurry.namespace SET timeline = 'another'",
		"UPDATE pgflurry.namespace SET acquire_after = 1",
		"CALL pgflurry.close_database()",
	} {
		server.Says(t, server.Refused(t, r.conn, "55000", statement), "session_replication_role")
	}
	r.do("RESET session_replication_role")
	if r.gate() != 0 || r.mark(1) != 0 {
		t.Error("the rows have changed")
	}
}

// What a subscription brings is true of another database. It is dropped, and the subscription goes on.
func TestRowsOfAnotherDatabaseThatASubscriptionBringsAreDropped(t *testing.T) {
	t.Parallel()
	from, to := server.Private(t, map[string]string{"wal_level": "logical"}), server.Private(t, nil)
	there, here := from.URL("postgres"), to.URL("postgres")
	for _, url := range []string{there, here} {
		server.Migrate(t, url, migrations.Settings{Layout: small, DatabaseWorkers: 1})
		server.Exec(t, url, "CREATE TABLE item (id int PRIMARY KEY)")
	}
	r, other := enter(t, here), enter(t, there)
	s := r.store(here)
	a := r.acquire(s, "a")
	a.Grant.Until = r.renew(s, renewal(a, never)).Until
	const state = "SELECT (SELECT string_agg(w::text, ' ' ORDER BY worker) FROM pgflurry.worker w) || " +
		"(SELECT n::text FROM pgflurry.namespace n)"
	before := ask[string](r, state)
	other.do("CREATE PUBLICATION everything FOR TABLE pgflurry.worker, pgflurry.namespace, item")
	r.do(fmt.Sprintf("CREATE SUBSCRIPTION everything CONNECTION 'host=127.0.0.1 port=%d user=postgres "+
		"dbname=postgres' PUBLICATION everything WITH (copy_data = false)", from.Port))
	t.Cleanup(func() {
		server.Exec(t, here, "ALTER SUBSCRIPTION everything DISABLE")
		server.Exec(t, here, "ALTER SUBSCRIPTION everything SET (slot_name = NONE)")
		server.Exec(t, here, "DROP SUBSCRIPTION everything")
	})
	other.do("UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 1, reserved_until = 1 WHERE worker <> 0")
	other.do("UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 1000, node = 'stranger', " +
		"reserved_until = pgflurry.ticks(clock_timestamp() + interval '1 day') WHERE worker <> 0")
	other.do("UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp() + interval '1 day')")
	other.do("INSERT INTO item VALUES (1)")
	r.until("SELECT count(*) = 1 FROM item")
	if after := ask[string](r, state); after != before {
		t.Errorf("the rows were\n%s\nand are\n%s", before, after)
	}
	r.renew(s, renewal(a, never))
}
