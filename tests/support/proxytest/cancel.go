package proxytest

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// Cancellation has to work whatever is between client and proxy. at is the URL through the proxy, with at least one
// parameter. direct is the URL without the proxy.

// PsqlCancels lets psql draw an ID and run a query. Then it cancels that query, as Ctrl-C does.
func PsqlCancels(t testing.TB, at, direct string) {
	t.Helper()
	p := program.StartCommand(t, exec.Command("psql", at+"&application_name=cancelled_psql", "-XAt",
		"-c", "SELECT next_snowflake()", "-c", "SELECT pg_sleep(600)"))
	server.Sleeps(t, server.Connect(t, direct), "cancelled_psql")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 || strings.Count(p.Output(), "canceling statement due to user request") != 1 {
		t.Errorf("psql ended with %d and said\n%s", code, p.Output())
	}
}

// PgxCancels lets pgx cancel a query, three times. Each time the session goes on, and the proxy answers it from memory.
func PgxCancels(t testing.TB, at, direct string) {
	t.Helper()
	look := server.Connect(t, direct)
	conn := server.Connect(t, at+"&application_name=cancelled_pgx")
	for range 3 {
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Exec(t.Context(), "SELECT pg_sleep(600)")
			ended <- err
		}()
		server.Sleeps(t, look, "cancelled_pgx")
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "57014") {
			t.Fatalf("the query ended with %v; expected 57014", err)
		}
		var id int64
		if err := conn.QueryRow(t.Context(), "SELECT next_snowflake()").Scan(&id); err != nil || id < FirstID {
			t.Fatalf("after its cancellation the session drew %d, %v", id, err)
		}
	}
}
