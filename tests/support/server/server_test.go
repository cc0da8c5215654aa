package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

func TestEachDatabaseIsEmptyAndItsOwn(t *testing.T) {
	server.NoLeak(t)
	one, other := server.Database(t), server.Database(t)
	server.Exec(t, one, "CREATE TABLE mine ()")
	var there bool
	err := server.Connect(t, other).QueryRow(t.Context(), "SELECT to_regclass('mine') IS NOT NULL").Scan(&there)
	if err != nil || there {
		t.Errorf("a table made in %s is seen in %s: %v, %v", one, other, there, err)
	}
}

func TestRoleDecidesTheMethodOfAuthentication(t *testing.T) {
	cluster := server.Cluster(t)
	url := server.Database(t)
	server.Exec(t, url, "CREATE ROLE ann LOGIN PASSWORD 'secret' IN ROLE login_scram")
	t.Cleanup(func() { server.Exec(t, cluster.URL("postgres"), "DROP ROLE ann") })
	server.Connect(t, server.As(t, url, "ann", "secret"))
	if conn, err := pgx.Connect(t.Context(), server.As(t, url, "ann", "wrong")); err == nil {
		conn.Close(t.Context())
		t.Error("a wrong password is let in")
	}
}

func TestFrozenServerDoesNotAnswerUntilThawed(t *testing.T) {
	cluster := server.Private(t, nil)
	conn := server.Connect(t, cluster.URL("postgres"))
	thaw := server.Freeze(t, cluster)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- conn.Ping(t.Context()) }()
	select {
	case err := <-answered:
		t.Fatalf("a frozen server answered: %v", err)
	case <-ctx.Done():
	}
	thaw()
	if err := <-answered; err != nil {
		t.Errorf("a thawed server does not answer: %v", err)
	}
}

func TestMigratedDatabaseGivesAnID(t *testing.T) {
	var id int64
	err := server.Connect(t, server.Migrated(t)).QueryRow(t.Context(), "SELECT next_snowflake()").Scan(&id)
	if err != nil || id <= 0 {
		t.Errorf("ID %d, %v", id, err)
	}
}
