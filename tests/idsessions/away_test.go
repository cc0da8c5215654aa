package idsessions

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

func TestNewLoginsAndIDsGoOnWhilePostgreSQLHangs(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	run(t, "migrate", "up", "--database", direct)
	add(t, direct, user, password)
	d := open(t, direct)
	d.Line("accounts of the ID database are read", "accounts=1")
	before := d.connect(t)
	reserves(t, before, 15*time.Second)

	thaw := server.Freeze(t, cluster)
	isID(t, server.Value[string](t, before, "SELECT next_snowflake()::text"))
	isID(t, server.Value[string](t, d.connect(t), "SELECT next_snowflake()::text"))
	d.Line("the database does not acknowledge") // the renewals below come after the fault
	isID(t, server.Value[string](t, d.connect(t), "SELECT next_snowflake()::text"))
	thaw()
	d.Line("renewing again")
}

// reserves waits until the lease lasts for long enough. The first grants after a start are short.
func reserves(t *testing.T, conn *pgx.Conn, enough time.Duration) {
	t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	limit := time.After(server.Patience)
	for {
		lease := row(t, conn, "SHOW LEASE")
		if left, err := time.ParseDuration(fmt.Sprint(lease["reserved_for"])); err == nil && left >= enough {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("the lease never lasts %v: %v", enough, lease)
		}
	}
}

// row returns the only row of a statement, by column.
func row(t *testing.T, conn *pgx.Conn, statement string) map[string]any {
	t.Helper()
	rows, err := conn.Query(server.Within(t), statement)
	if err != nil {
		t.Fatal(err)
	}
	one, err := pgx.CollectExactlyOneRow(rows, pgx.RowToMap)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return one
}
