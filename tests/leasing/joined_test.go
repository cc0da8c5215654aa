package leasing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/postgres"
	"pgflurry/tests/support/server"
)

// What this shows is PostgreSQL's, and docs/uniqueness.md names it among what breaks the promise. A primary remembers
// the greatest position that a synchronous standby told. An old primary that joins before it is rewound, with WAL of
// its own, tells one that the new primary has not reached: until then nobody waits for a standby.
func TestAPrimaryAcknowledgesAloneAfterAnOldOneJoinedWithWALOfItsOwn(t *testing.T) {
	cluster, r := ownServer(t, small)
	standby := server.Standby(t, cluster, "standby", fmt.Sprintf("host=127.0.0.1 port=%d", cluster.Port), nil)
	r.do("CREATE TABLE shared ()") // so that the two part in the middle of a segment of WAL
	end := ask[string](r, "SELECT pg_current_wal_lsn()::text")
	server.Eventually(t, server.Connect(t, standby.URL("postgres")),
		"(SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn)", end)
	if err := standby.Stop(r.context()); err != nil {
		t.Fatal(err)
	}
	r.do("CREATE TABLE item AS SELECT generate_series(1, 20000) AS n") // on no standby
	server.Crash(t, cluster)
	standby = server.Again(t, standby.Data, 0, map[string]string{"synchronous_standby_names": "*"})
	promoted := server.Connect(t, standby.URL("postgres"))
	server.Value[bool](t, promoted, "SELECT pg_promote()")
	if acknowledged(t, standby, 2*time.Second) {
		t.Fatal("a commit was acknowledged without a standby")
	}
	old := join(t, cluster, standby)
	for deadline := time.Now().Add(server.Patience); !acknowledged(t, standby, time.Second); {
		if time.Now().After(deadline) {
			t.Skip("this PostgreSQL goes on to wait") // it was mended
		}
	}
	if n := server.Value[int](t, server.Connect(t, old.URL("postgres")), "SELECT count(*) FROM pg_class "+
		"WHERE relname = 'counted'"); n > 0 {
		t.Error("the old primary has what was acknowledged")
	}
}

// join starts an old primary as a standby of the new one, as it is.
func join(t *testing.T, old, primary *postgres.Cluster) *postgres.Cluster {
	t.Helper()
	if err := os.WriteFile(filepath.Join(old.Data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return server.Again(t, old.Data, 0, map[string]string{
		"primary_conninfo": fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=old", primary.Port),
	})
}

// acknowledged says whether a commit is acknowledged in this time.
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
