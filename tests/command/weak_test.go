package command

import (
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

func TestStatusFindsWeakGuardsAndUpMendsThemAndSaysSo(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	// as the end of a dump that was restored with --disable-triggers
	server.Exec(t, url, `ALTER TABLE pgflurry.worker ENABLE TRIGGER ALL;
		DROP TRIGGER guard_closed ON pgflurry.token`)
	status := run(t, "migrate", "status", "--database", url)
	status.is(t, 3, "not everything is in place")
	for _, text := range []string{
		"guards", "weak", "guard_worker on pgflurry.worker", "guard_closed on pgflurry.token",
	} {
		if !strings.Contains(status.out, text) {
			t.Errorf("status does not say %q:\n%s", text, status.out)
		}
	}
	up := run(t, "migrate", "up", "--database", url)
	if up.is(t, 0); !strings.Contains(up.out, "guards were mended") ||
		!strings.Contains(up.out, "guard_closed on pgflurry.token") {
		t.Errorf("up says\n%s", up.out)
	}
	run(t, "migrate", "status", "--database", url).is(t, 0)
	if again := run(t, "migrate", "up", "--database", url); strings.Contains(again.out, "guards were mended") {
		t.Errorf("up says once more\n%s", again.out)
	}
}

func TestStatusFindsALockOfTheFunctionThatIsATable(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, "DROP VIEW pgflurry.function_lock; CREATE TABLE pgflurry.function_lock (nothing boolean)")
	run(t, "migrate", "status", "--database", url).is(t, 3, "are no views: function_lock", "CREATE VIEW")
	server.Exec(t, url, "DROP TABLE pgflurry.function_lock; CREATE VIEW pgflurry.function_lock AS SELECT 1 AS x")
	run(t, "migrate", "status", "--database", url).is(t, 0)
}

func TestAClosedDatabaseIsNotInPlaceAndUpDoesNotOpenIt(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	run(t, "namespace", "close", "--database", url).is(t, 0)
	for _, command := range []string{"status", "up"} {
		said := run(t, "migrate", command, "--database", url)
		if said.is(t, 3, "is closed for good", "namespace move --database 'postgres:",
			"--no-other-draws"); !strings.Contains(said.out, "closed") {
			t.Errorf("migrate %s says\n%s", command, said.out)
		}
	}
	server.Refused(t, server.Connect(t, url), "SNF04", "SELECT next_snowflake()")
}

func TestOpenGateNeedsAWordAndSaysWhoHadClosedIt(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	run(t, "namespace", "join", "--database", joined, "--home", home).is(t, 0)
	run(t, "workers", "open-gate", "--database", joined).is(t, 2, "has no gate", "Give the URL of its home")
	if open := run(t, "workers", "open-gate", "--database", home); !strings.Contains(open.out, "nothing was changed") {
		t.Errorf("an open gate: %s%s", open.out, open.errs)
	}
	run(t, "workers", "reseed", "--yes", "--database", home).is(t, 0)
	for _, command := range [][]string{{"workers", "list"}, {"migrate", "status"}} {
		if said := run(t, append(command, "--database", home)...); !strings.Contains(said.out, "(role postgres, ") {
			t.Errorf("%s does not say who has closed the gate:\n%s", command, said.out)
		}
	}
	run(t, "workers", "open-gate", "--database", home).
		is(t, 2, "was closed by role postgres, ", "nothing was changed", "With --yes you confirm")
	const closed = "SELECT acquire_after > pgflurry.ticks(clock_timestamp()) FROM pgflurry.namespace"
	conn := server.Connect(t, home)
	if !server.Value[bool](t, conn, closed) {
		t.Error("the gate is open without --yes")
	}
	server.Role(t, home, "opens_no_gate")
	server.Do(t, conn, "CALL pgflurry.grant_lease('opens_no_gate')")
	run(t, "workers", "open-gate", "--yes", "--database", server.As(t, home, "opens_no_gate", "")).
		is(t, 1, "may not set acquire_after")
	opened := run(t, "workers", "open-gate", "--yes", "--database", home)
	if opened.is(t, 0); !strings.Contains(opened.out, "it is open now: proxies get workers") {
		t.Errorf("open-gate says\n%s", opened.out)
	}
	if server.Value[bool](t, conn, closed) {
		t.Error("the gate is closed after open-gate")
	}
}
