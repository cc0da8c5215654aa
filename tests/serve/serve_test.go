// Package serve tests the main job: proxies as processes in front of a real PostgreSQL, used by real clients.
package serve

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// databaseWorker is the worker of the function in a database that has not joined another.
const databaseWorker = 0

// workerOf returns the worker of an ID of the default layout, 41/0/10/12.
func workerOf(id int64) int { return int(id>>12) & 1023 }

// seen collects IDs from many clients. The first duplicate fails the test.
type seen struct {
	t   testing.TB
	ids map[int64]string
}

func newSeen(t testing.TB) *seen { return &seen{t: t, ids: make(map[int64]string)} }

func (s *seen) add(source string, ids ...int64) {
	s.t.Helper()
	for _, id := range ids {
		if before, twice := s.ids[id]; twice {
			s.t.Fatalf("ID %d came from %s and from %s", id, before, source)
		}
		s.ids[id] = source
	}
}

// workers counts the IDs of each worker.
func (s *seen) workers() map[int]int {
	count := make(map[int]int)
	for id := range s.ids {
		count[workerOf(id)]++
	}
	return count
}

// drawOne draws over an open connection, by the simple protocol.
func drawOne(conn *pgx.Conn) (int64, error) {
	var id int64
	err := conn.QueryRow(context.Background(), "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id)
	return id, err
}

func mustDraw(t testing.TB, conn *pgx.Conn) int64 {
	t.Helper()
	id, err := drawOne(conn)
	if err != nil {
		t.Fatal(fmt.Errorf("drawing an ID: %w", err))
	}
	return id
}
