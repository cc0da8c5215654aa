package idsessions

import (
	"syscall"
	"testing"

	"pgflurry/tests/support/server"
)

func TestADrainEndsWhoIsIdleAtOnceAndWaitsForATransaction(t *testing.T) {
	t.Parallel()
	d := trusting(t, server.Migrated(t))
	idle, busy := d.anybody(t), d.anybody(t)
	relayed := server.Connect(t, d.URL)
	server.Do(t, busy, "BEGIN")
	server.Do(t, relayed, "BEGIN")
	d.Signal(syscall.SIGTERM)
	d.Line("msg=draining", "id_sessions=2", "sessions=1")
	_, err := idle.PgConn().ReceiveMessage(server.Within(t))
	server.Says(t, err, "57P01")
	isID(t, server.Value[string](t, busy, "SELECT next_snowflake()::text"))
	server.Do(t, relayed, "COMMIT") // the drain waits for both kinds of sessions
	isID(t, server.Value[string](t, busy, "SELECT next_snowflake()::text"))
	server.Do(t, busy, "COMMIT")
	_, err = busy.PgConn().ReceiveMessage(server.Within(t))
	server.Says(t, err, "57P01")
	if code := d.End(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	d.Line("worker released")
	d.Line("msg=ended", "id_sessions=2", "id_session_ids=2")
}
