//go:build full

package database

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// The blocks of docs/tables.md.
const (
	followedTable = iota
	pollByColumn
	holdsColumnBack
	pollBelowSettled
	refuseOldIDs
	settledRow
	holdsSettledBack
	november
	partitionedTable
	nextPartitions
	dropPartitions
	tableWithRows
)

func tablesPage(t *testing.T, block int) string {
	t.Helper()
	return deeds.Blocks(t, "../../docs/tables.md", "sql")[block]
}

// What tools send to follow the view.
var toolsFollow = map[string]string{
	"Kafka Connect": `SELECT count(*) FROM (SELECT * FROM "public"."event_settled"
		WHERE "public"."event_settled"."id" > 0 ORDER BY "public"."event_settled"."id" ASC) AS q`,
	"Airbyte": `SELECT count(*) FROM (SELECT "id", "tx", "payload" FROM "public"."event_settled"
		WHERE "id" > 0 AND "id" <= (SELECT max("id") FROM "public"."event_settled")) AS q`,
	"dbt": `SELECT count(*) FROM (SELECT * FROM event_settled
		WHERE id > (SELECT coalesce(max(id), 0) FROM event_copy)) AS q`,
}

func TestTheStatementsOfThePageFollowATableOnThePrimaryAndOnAStandby(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	conn, writer := server.Connect(t, url), server.Connect(t, url)
	row, update, _ := strings.Cut(tablesPage(t, settledRow), "-- each second:\n")
	run(t, conn, tablesPage(t, followedTable)+row+"CREATE TABLE event_copy (id bigint)")
	standby := server.Standby(t, cluster, "standby", fmt.Sprintf("host=127.0.0.1 port=%d", cluster.Port), nil)
	there := server.Connect(t, standby.URL("postgres"))
	says(t, refused(t, there, "55000", "SELECT snowflake_settled()"), "standby", "Store it in a row of the primary")

	both := func(rows int, query string) {
		t.Helper()
		for _, where := range []*pgx.Conn{conn, there} {
			server.Eventually(t, where, "$1 = (SELECT count(*) FROM ("+
				strings.TrimSuffix(strings.TrimSpace(query), ";")+") AS q)", rows)
		}
	}
	update = strings.Replace(update, "(later", "('0', later", 1)
	run(t, conn, "INSERT INTO event (payload) VALUES ('first')")
	run(t, writer, "BEGIN; INSERT INTO event (payload) VALUES ('late')")
	run(t, conn, "INSERT INTO event (payload) VALUES ('second')")
	id := value[int64](t, conn, "SELECT id FROM event WHERE payload = 'second'")
	both(1, tablesPage(t, pollByColumn))
	follower{t, url, conn, writer}.draw(conn)
	run(t, conn, update)
	late := value[int64](t, writer, "SELECT id FROM event WHERE payload = 'late'")
	if got := value[int64](t, conn, "SELECT id FROM settled"); got >= late || got >= id {
		t.Errorf("the row has %d, and a transaction is open that has stored %d", got, late)
	}
	for block, names := range map[int]string{holdsColumnBack: "backend_xid", holdsSettledBack: "xact_start"} {
		query, _, _ := strings.Cut(tablesPage(t, block), ";")
		pid := value[int32](t, conn, "SELECT pid FROM ("+query+") AS q LIMIT 1")
		if pid != int32(writer.PgConn().PID()) {
			t.Errorf("the query by %s names session %d, expected %d", names, pid, writer.PgConn().PID())
		}
		run(t, conn, tablesPage(t, block))
	}
	run(t, writer, "COMMIT")
	both(3, tablesPage(t, pollByColumn))
	run(t, conn, tablesPage(t, pollBelowSettled))
	run(t, conn, update)
	both(3, "SELECT * FROM event_settled")
	for tool, query := range toolsFollow {
		if n := value[int](t, there, query); n != 3 {
			t.Errorf("%s gets %d of 3 rows", tool, n)
		}
	}

	run(t, conn, tablesPage(t, refuseOldIDs)+"INSERT INTO event (payload) VALUES ('by default'); "+
		"INSERT INTO event (id) VALUES (snowflake_floor(now() - interval '29 s'))")
	says(t, refused(t, conn, "22023", "INSERT INTO event (id) VALUES (snowflake_floor(now() - interval '31 s'))"),
		"was drawn more than 30 s before its transaction began")
}
