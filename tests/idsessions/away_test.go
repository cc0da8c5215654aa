package idsessions

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

func TestASessionThatWaitsThroughAnOutageIsToldWhenAndGetsIDsAgain(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	run(t, "migrate", "up", "--database", direct)
	server.Exec(t, direct, `UPDATE pgflurry.namespace
	    SET max_window = '1 s', skew = '100 ms', quarantine = '1.2 s', restart_quarantine = '6 s'`)
	add(t, direct, user, password)
	d := open(t, direct, "--window", "1s")
	d.Line("accounts of the ID database are read", "accounts=1")
	conn := d.connect(t)
	isID(t, server.Value[string](t, conn, "SELECT next_snowflake()::text"))

	server.Stop(t, cluster)
	said := until(t, conn, regexp.MustCompile(`^the lease database has not acknowledged since .*, for [4-9]s`))
	if !strings.Contains(said.Hint, "or it says then until when") {
		t.Errorf("while PostgreSQL is away the hint is %q", said.Hint)
	}
	server.Again(t, cluster.Data, cluster.Port)
	said = until(t, conn, regexp.MustCompile(
		`^no worker is granted before 20\d\d-\S+Z, in [1-6]s, since the lease database has just started$`))
	if !strings.Contains(said.Hint, "Try again then") {
		t.Errorf("after the start the hint is %q", said.Hint)
	}
	if said := until(t, conn, nil); said != nil {
		t.Errorf("no ID came, but %v", said)
	}
}

// until draws until there is an ID, or an error whose last part is wanted.
func until(t *testing.T, conn *pgx.Conn, wanted *regexp.Regexp) *pgconn.PgError {
	t.Helper()
	for ctx := server.Within(t); ; {
		var said *pgconn.PgError
		_, err := conn.Exec(ctx, "SELECT next_snowflake()")
		switch {
		case err == nil && wanted == nil:
			return nil
		case err == nil:
			continue // the lease has not ended, or PostgreSQL has not
		case !errors.As(err, &said):
			t.Fatalf("the session ended: %v", err)
		}
		parts := strings.Split(strings.TrimPrefix(said.Message, "no ID can be given: "), "; ")
		if wanted != nil && wanted.MatchString(parts[len(parts)-1]) {
			return said
		}
	}
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
