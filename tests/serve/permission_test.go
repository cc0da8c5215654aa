package serve

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// keptSessions matches the sessions by which the proxy asks for permission in the database of this connection.
const keptSessions = "FROM pg_stat_activity WHERE application_name = 'pgflurry serve, permission' " +
	"AND datname = current_database()"

func TestARightThatIsRevokedEndsTheAnswersOfOpenSessionsUntilItIsGivenBack(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "revoking")
	conn := server.Connect(t, p.URL)
	if id := mustDraw(t, conn); workerOf(id) == databaseWorker {
		t.Fatalf("ID %d is of the database before anything was revoked", id)
	}
	from := p.Printed()
	server.Exec(t, direct, "REVOKE EXECUTE ON FUNCTION next_snowflake() FROM PUBLIC")
	const grant = "GRANT EXECUTE ON FUNCTION public.next_snowflake(), public.next_snowflakes(bigint) TO PUBLIC"
	p.LineFrom(from, "calls are relayed to PostgreSQL", "revoked from PUBLIC", grant)
	if id := mustDraw(t, conn); workerOf(id) != databaseWorker {
		t.Errorf("ID %d came from the proxy although only PostgreSQL can say who may call", id)
	}
	from = p.Printed()
	server.Exec(t, direct, grant)
	p.LineFrom(from, "msg=\"calls are answered from memory while a worker is held\"")
	if id := mustDraw(t, conn); workerOf(id) == databaseWorker {
		t.Errorf("ID %d is of the database although everybody may call again", id)
	}
}

// docs/protocol.md names it among the differences: until the next question a call means what it meant.
func TestASessionThatReplacesAFunctionGetsItsOwnAfterTheCommitAndOtherCallsAreAnsweredOn(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "replaced")
	conn := server.Connect(t, p.URL)
	mustDraw(t, conn)
	many := func() int64 {
		return server.Value[int64](t, conn, "SELECT * FROM next_snowflakes(1)", pgx.QueryExecModeSimpleProtocol)
	}
	server.Do(t, conn, "BEGIN")
	server.Do(t, conn, "CREATE OR REPLACE FUNCTION next_snowflakes(n bigint) RETURNS SETOF bigint LANGUAGE sql "+
		"AS 'SELECT 42::bigint'")
	if id := many(); id == 42 || workerOf(id) == databaseWorker {
		t.Errorf("%d came from PostgreSQL before anybody else could see the change", id)
	}
	from := p.Printed()
	server.Do(t, conn, "COMMIT")
	line := p.LineFrom(from, "the name next_snowflakes can mean function next_snowflakes(bigint)")
	if !strings.Contains(line, `level=INFO msg="calls are answered from memory while a worker is held"`) {
		t.Errorf("the log says %s", line)
	}
	if id := many(); id != 42 {
		t.Errorf("the replaced function gave %d", id)
	}
	if id := mustDraw(t, conn); workerOf(id) == databaseWorker {
		t.Errorf("ID %d is of the database, though next_snowflake() is as it was", id)
	}
}

func TestThePermissionIsAskedForByOneSessionThatIsOpenedAgainInSilence(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "kept")
	conn := server.Connect(t, direct)
	pid := server.Value[int](t, conn, "SELECT pid "+keptSessions)
	asked := server.Value[string](t, conn, "SELECT query_start::text "+keptSessions)
	server.Eventually(t, conn, "EXISTS (SELECT "+keptSessions+" AND query_start > '"+asked+"')")
	if again := server.Value[int](t, conn, "SELECT pid "+keptSessions); again != pid {
		t.Errorf("it was asked by session %d and then by session %d", pid, again)
	}
	server.Do(t, conn, "SELECT pg_terminate_backend(pid, 10000) "+keptSessions)
	server.Eventually(t, conn, "EXISTS (SELECT "+keptSessions+" AND state = 'idle')")
	if strings.Contains(p.Output(), "level=WARN") {
		t.Errorf("a session that ended and was opened again is news:\n%s", p.Output())
	}
	if id := mustDraw(t, server.Connect(t, p.URL)); workerOf(id) == databaseWorker {
		t.Errorf("ID %d is of the database", id)
	}
}

func TestThePermissionExpiresWhilePostgreSQLHasNoConnectionToAskItBy(t *testing.T) { // not parallel: it takes them all
	direct := server.Migrated(t)
	plain := server.Role(t, direct, "nobody_special")
	server.Exec(t, direct, "CALL pgflurry.grant_lease('nobody_special')")
	p := program.Serve(t, direct, "full", "--lease-database", plain)
	session, super := server.Connect(t, p.URL), server.Connect(t, direct)
	mustDraw(t, session)

	// Others take all connections. Then the proxy's own connection ends, too.
	from := p.Printed()
	for full := false; !full; {
		conn, err := pgx.Connect(server.Within(t), plain)
		if refusal := new(pgconn.PgError); errors.As(err, &refusal) && refusal.Code == "53300" {
			full = server.Value[int](t, super, "SELECT count(*) "+keptSessions) == 0
			server.Do(t, super, "SELECT pg_terminate_backend(pid, 10000) "+keptSessions)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.PgConn().Conn().Close() })
	}
	p.LineFrom(from, "level=WARN", "the permission has expired", "SQLSTATE 53300")
	if id := mustDraw(t, session); workerOf(id) != databaseWorker {
		t.Errorf("ID %d came from the proxy, which could not ask whether it may answer", id)
	}
}

func TestThePermissionStaysWhileUpstreamIsSilent(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	link, _ := network.To(t, direct)
	p := program.Serve(t, direct, "silent", "--upstream", link.Address()) // the lease does not use that link
	conn := server.Connect(t, p.URL)
	mustDraw(t, conn)
	from := p.Printed()
	link.Silence()
	p.LineFrom(from, "level=WARN", "database could not be looked at", "no answer in time")
	var id int64 // a forwarded call would get no answer
	err := conn.QueryRow(server.Within(t), "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id)
	if err != nil {
		t.Errorf("no ID came from memory: %v", err)
	}
	link.Heal()
	p.LineFrom(from, "msg=\"calls are answered from memory while a worker is held\"")
}
