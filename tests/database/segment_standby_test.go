package database

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/segment"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// If somebody cancels a commit's wait for the synchronous standby, PostgreSQL reports success with a warning. A
// failover would lose that commit.
func TestABlockWhoseWaitForTheStandbyWasCancelledIsNeverUsed(t *testing.T) {
	server.NoLeak(t)
	url := server.Private(t, nil).URL("postgres")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	tag(t, url, "order", 2000)
	admin := server.Connect(t, url)
	// only the settings of the fetch itself make commits of this role wait, and report a wait that was cancelled
	server.Do(t, admin, "CREATE ROLE careless LOGIN SUPERUSER; ALTER ROLE careless SET synchronous_commit = off; "+
		"ALTER ROLE careless SET client_min_messages = error")
	server.Do(t, admin, "ALTER SYSTEM SET synchronous_standby_names = 'missing'")
	server.Do(t, admin, "SELECT pg_reload_conf(); SET synchronous_commit = local")
	s, _ := source(t, server.As(t, url, "careless", ""))
	ctx := server.Within(t)

	waiting := make(chan [2]int64, 1)
	go func() { waiting <- cancelWait(ctx, t, admin) }()
	var given [][2]int64 // first, until
	var err error
	for err == nil {
		var first int64
		var count int
		if first, count, err = s.NextN(ctx, []byte("order"), 10_000); count > 0 {
			given = append(given, [2]int64{first, first + int64(count)})
		}
	}
	if !errors.Is(err, segment.ErrResting) {
		t.Fatalf("error %v, expected %v", err, segment.ErrResting)
	}
	lost := <-waiting // committed on this server, and on no other
	server.Do(t, admin, "ALTER SYSTEM SET synchronous_standby_names = ''")
	server.Do(t, admin, "SELECT pg_reload_conf()")
	for after := 0; after == 0; {
		var first int64
		if first, after, err = s.NextN(ctx, []byte("order"), 1); ctx.Err() != nil {
			t.Fatal(err)
		}
		given = append(given, [2]int64{first, first + int64(after)})
	}
	for _, g := range given {
		if g[0] < lost[1] && lost[0] < g[1] {
			t.Errorf("numbers %d to %d were given, of the block %d to %d that no standby has",
				g[0], g[1]-1, lost[0], lost[1]-1)
		}
	}
}

// cancelWait cancels the first commit that waits for a standby, and returns its block.
func cancelWait(ctx context.Context, t *testing.T, conn *pgx.Conn) (block [2]int64) {
	const next = "SELECT max_id FROM pgflurry.segment WHERE biz_tag = 'order'"
	const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = 'careless'"
	for n := 0; n == 0; { // the first fetches may come before the setting is in force
		if err := conn.QueryRow(ctx, "SELECT count(*) "+waiting).Scan(&n); err != nil {
			t.Error(err)
			return block
		}
	}
	if err := conn.QueryRow(ctx, next).Scan(&block[0]); err != nil {
		t.Error(err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_cancel_backend(pid) "+waiting); err != nil {
		t.Error(err)
	}
	for block[1] = block[0]; block[1] == block[0] && ctx.Err() == nil; {
		if err := conn.QueryRow(ctx, next).Scan(&block[1]); err != nil {
			t.Error(err)
			return block
		}
	}
	return block
}
