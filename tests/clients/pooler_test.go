//go:build full

package clients

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// pooled makes a database with the table, PgBouncer in front of it, and a proxy in front of PgBouncer. The proxy's
// lease goes through PgBouncer, too. Both URLs are for the same conversation.
func pooled(t *testing.T, connections int, settings ...string) (bouncer, proxied string) {
	t.Helper()
	direct := server.Migrated(t)
	server.Exec(t, direct, itemSQL)
	bouncer = server.Pooler(t, direct, connections, settings...)
	return bouncer, program.Serve(t, bouncer, "pooled").URL
}

func TestInFrontOfPgBouncerInSessionModeASessionIsWhatItIsWithoutTheProxy(t *testing.T) {
	t.Parallel()
	bouncer, proxied := pooled(t, 5, "pool_mode = session")
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			sameButForTheIDs(t, bouncer, proxied, mode, session)
		})
	}
}

func TestInFrontOfPgBouncerInTransactionModeTransactionsAreWhatTheyAreWithoutTheProxy(t *testing.T) {
	t.Parallel()
	settings := []string(nil)
	modes := []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeCacheDescribe}
	if knowsStatements(t) {
		settings, modes = namedStatements, append(modes, pgx.QueryExecModeCacheStatement)
	}
	bouncer, proxied := pooled(t, 2, settings...)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			sameButForTheIDs(t, bouncer, proxied, mode, transactions)
		})
	}
}

// namedStatements makes PgBouncer keep named statements. It can from 1.21 on.
var namedStatements = []string{"max_prepared_statements = 100"}

// knowsStatements says whether this machine's PgBouncer has that setting.
func knowsStatements(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("pgbouncer", "--version").Output()
	minor := 0
	if _, wrong := fmt.Sscanf(string(out), "PgBouncer 1.%d", &minor); wrong != nil && err == nil {
		t.Fatalf("pgbouncer --version says %q", out)
	}
	return minor >= 21
}

// PgBouncer before 1.21 does not track named statements. In transaction mode a statement is prepared on one server
// connection, and the next transaction may run on another. Through the proxy the same holds for all statements except
// draws, which need no server connection.
func TestInFrontOfPgBouncerInTransactionModeAPreparedIDNeedsNoServerConnection(t *testing.T) {
	t.Parallel()
	settings, expected := []string(nil), "26000"
	if knowsStatements(t) {
		settings, expected = namedStatements, ""
	}
	_, proxied := pooled(t, 2, settings...)
	conn, other := server.Connect(t, proxied), server.Connect(t, proxied)
	ctx := t.Context()
	for name, sql := range map[string]string{"draw": "SELECT next_snowflake()", "count": "SELECT count(*) FROM item"} {
		if _, err := conn.Prepare(ctx, name, sql); err != nil {
			t.Fatal(err)
		}
	}
	// The other session takes the server connection that was used last, and keeps it. So the statement of conn is not
	// where conn goes next.
	tx, err := other.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 10 {
		var id int64
		if err := conn.QueryRow(ctx, "draw").Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(id))
	}
	fromMemory(t, ids)
	var count int
	said := new(pgconn.PgError)
	if err := conn.QueryRow(ctx, "count").Scan(&count); err != nil && !errors.As(err, &said) || said.Code != expected {
		t.Errorf("the other statement, which is on the server connection that the other session has, gives %v; "+
			"expected SQLSTATE %q", err, expected)
	}
}

func TestPgBouncerInFrontOfTheProxyGivesIDsFromItsMemoryToo(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, itemSQL)
	bouncer := server.Pooler(t, program.Serve(t, direct, "behind").URL, 2)
	sameButForTheIDs(t, direct, bouncer, pgx.QueryExecModeExec, transactions)
}

func TestInFrontOfPgBouncerInStatementModeLeaseAndIDsWorkAndTransactionsAreRefusedByIt(t *testing.T) {
	t.Parallel()
	_, proxied := pooled(t, 2, "pool_mode = statement")
	conn := server.Connect(t, proxied+"&default_query_exec_mode=exec")
	fromMemory(t, []string{fmt.Sprint(server.Value[int64](t, conn, draw))})
	_, err := conn.Exec(t.Context(), "BEGIN")
	if said := new(pgconn.PgError); !errors.As(err, &said) || said.Code != "08P01" {
		t.Errorf("BEGIN gives %v; expected PgBouncer's 08P01", err)
	}
}

// sameButForTheIDs expects the same conversation at both URLs. The IDs of the second one must come from memory.
func sameButForTheIDs(t *testing.T, without, with string, mode pgx.QueryExecMode, conversation func(*speaker)) {
	t.Helper()
	expected, _ := talk(t, without, mode, conversation)
	got, ids := talk(t, with, mode, conversation)
	if !slices.Equal(expected, got) {
		t.Errorf("without the proxy\n%s\nwith it\n%s", strings.Join(expected, "\n"), strings.Join(got, "\n"))
	}
	fromMemory(t, ids)
}

// talk runs a conversation with one server. It returns all that was said, with IDs masked, and the IDs.
func talk(t *testing.T, url string, mode pgx.QueryExecMode, conversation func(*speaker)) (said, ids []string) {
	t.Helper()
	s := &speaker{t: t, url: url, mode: mode}
	s.conn = s.connect()
	defer s.conn.Close(context.Background())
	conversation(s)
	return s.said, s.ids
}
