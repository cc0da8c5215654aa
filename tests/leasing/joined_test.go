package leasing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/server"
)

// This shows a behaviour of PostgreSQL, which docs/uniqueness.md lists among what breaks the promise. A primary
// remembers the greatest position that a synchronous standby has reported. An old primary that joins without pg_rewind
// reports a position in WAL of its own. Until the new primary reaches that position, its commits wait for no standby.
func TestAPrimaryAcknowledgesAloneAfterAnOldOneJoinedWithWALOfItsOwn(t *testing.T) {
	t.Parallel()
	cluster, r := ownServer(t, small)
	standby := server.Standby(t, cluster, "standby", fmt.Sprintf("host=127.0.0.1 port=%d", cluster.Port), nil)
	r.do("CREATE TABLE shared ()") // so that the timelines part in the middle of a WAL segment
	end := ask[string](r, "SELECT pg_current_wal_lsn()::text")
	server.Eventually(t, server.Connect(t, standby.URL("postgres")),
		"(SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn)", end)
	if err := standby.Stop(r.context()); err != nil {
		t.Fatal(err)
	}
	r.do("CREATE TABLE item AS SELECT generate_series(1, 20000) AS n") // WAL that no standby gets
	server.Crash(t, cluster)
	standby = server.Again(t, standby.Data, 0, map[string]string{"synchronous_standby_names": "*"})
	server.Promote(t, standby)
	if acknowledged(t, standby, 2*time.Second) {
		t.Fatal("a commit was acknowledged without a standby")
	}
	old := join(t, cluster, standby)
	for deadline := time.Now().Add(server.Patience); !acknowledged(t, standby, time.Second); {
		if time.Now().After(deadline) {
			t.Skip("this PostgreSQL goes on to wait") // PostgreSQL has mended this
		}
	}
	if n := server.Value[int](t, server.Connect(t, old.URL("postgres")), "SELECT count(*) FROM pg_class "+
		"WHERE relname = 'counted'"); n > 0 {
		t.Error("the old primary has what was acknowledged")
	}
}

// join starts an old primary, unchanged, as a standby of the new one.
func join(t *testing.T, old, primary *postgres.Cluster) *postgres.Cluster {
	t.Helper()
	if err := os.WriteFile(filepath.Join(old.Data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return server.Again(t, old.Data, 0, map[string]string{
		"primary_conninfo": fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=old", primary.Port),
	})
}

// acknowledged says whether the server acknowledges a commit within this time.
func acknowledged(t *testing.T, at *postgres.Cluster, within time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	conn, err := pgx.Connect(ctx, at.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS counted (); DROP TABLE counted; CREATE TABLE counted ()")
	return err == nil
}
