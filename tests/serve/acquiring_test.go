package serve

import (
	"context"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAProxyThatEndsWhileItAcquiresAWorkerLeavesNoneHeld(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tx, err := server.Connect(t, direct).Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(server.Within(t), "LOCK TABLE pgflurry.worker IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	p := program.ServeUnleased(t, direct, "hasty")
	conn := server.Connect(t, direct)
	server.Blocked(t, conn, 1)
	p.Signal(syscall.SIGTERM)
	p.Line("msg=draining")
	if err := tx.Rollback(context.Background()); err != nil { // now the acquisition can run in the database
		t.Fatal(err)
	}
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	server.Eventually(t, conn, `NOT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid())`)
	const held = "SELECT count(*) FROM pgflurry.worker WHERE node = 'hasty' AND released_at IS NULL"
	if n := server.Value[int](t, conn, held); n > 0 {
		t.Error("its worker rests for the quarantine: it was taken and not released")
	}
}
