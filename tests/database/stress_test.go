//go:build full

package database

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// draws has the statements of a session. %d is a number of IDs.
var draws = []string{
	"SELECT next_snowflake() FROM generate_series(1, %d)",
	"SELECT * FROM next_snowflakes(%d)",
	"SAVEPOINT s; SELECT next_snowflake() FROM generate_series(1, %d); ROLLBACK TO s",
	"COPY (SELECT next_snowflake() FROM generate_series(1, %d)) TO STDOUT",
	"SET LOCAL statement_timeout = '3ms'; SELECT next_snowflake() FROM generate_series(1, %d)",
	"INSERT INTO item (n) SELECT generate_series(1, %d) RETURNING id",
}

// A storm draws IDs in many sessions. It pauses, cancels, terminates and crashes them meanwhile.
type storm struct {
	url      string
	clock    bool // sessions step their clocks
	long     bool // some stops last longer than other sessions wait for a lock
	fenced   bool // commits wait for a standby
	mu       sync.Mutex
	ids      []int64 // every ID that reached a client
	disorder atomic.Int64
	broken   atomic.Int64 // statements that ended with an error
}

func TestIDsAreUniqueWhateverHappensToSessionsAndServer(t *testing.T) {
	storms := []*storm{{clock: true, long: true}, {long: true, fenced: true}, {clock: true}, {long: true}}
	for _, s := range storms[:volume.Of(2, len(storms))] {
		name := fmt.Sprintf("stepping clocks %v, long stops %v, a standby %v", s.clock, s.long, s.fenced)
		t.Run(name, func(t *testing.T) {
			server.NoLeak(t)
			cluster := server.Private(t, map[string]string{"max_wal_size": "256MB"})
			url := cluster.URL("postgres")
			up(t, url, migrations.Settings{})
			server.Exec(t, url, "CREATE UNLOGGED TABLE item (n int, id bigint DEFAULT next_snowflake())")
			if s.clock {
				server.FunctionClock(t, url, steps)
			}
			if s.fenced {
				waitsForStandby(t, cluster, nil)
			}
			s.url = url
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var sessions sync.WaitGroup
			for i := range 10 {
				sessions.Go(func() { s.session(ctx, rand.New(rand.NewPCG(uint64(i), 7))) })
			}
			sessions.Go(func() { s.trouble(ctx, cluster) })
			sessions.Go(func() { s.deaf(ctx) })
			server.Pause(ctx, cmp.Or(server.Storm(t), 5*time.Second))
			server.Until(t, s.enough) // a machine may be slow
			cancel()
			sessions.Wait()
			s.judge(t)
		})
	}
}

// session draws until ctx ends. It connects again whenever its connection is gone.
func (s *storm) session(ctx context.Context, dice *rand.Rand) {
	var last int64
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, s.url)
		if err != nil {
			s.broken.Add(1)
			continue
		}
		for ctx.Err() == nil && !conn.IsClosed() {
			ids, err := s.draw(ctx, conn, dice)
			if err != nil {
				s.broken.Add(1)
			}
			for _, id := range ids {
				if id <= last {
					s.disorder.Add(1)
				}
				last = id
			}
			s.mu.Lock()
			s.ids = append(s.ids, ids...)
			s.mu.Unlock()
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

// draw runs one statement. It returns all IDs that came, also those before an error.
func (s *storm) draw(ctx context.Context, conn *pgx.Conn, dice *rand.Rand) (ids []int64, err error) {
	n := 1
	if dice.IntN(3) > 0 {
		n = 1 + dice.IntN(3000)
	}
	text := "BEGIN; " + fmt.Sprintf(draws[dice.IntN(len(draws))], n) + "; COMMIT"
	if s.clock {
		text = fmt.Sprintf("SET test.step = '%d ms'; ", dice.IntN(3000)-1500) + text
	}
	results := conn.PgConn().Exec(ctx, text)
	for results.NextResult() {
		for result := results.ResultReader(); result.NextRow(); {
			ids = appendID(ids, result.Values()[0])
		}
	}
	if err := results.Close(); err != nil {
		// end a failed transaction; the connection may be gone
		_, _ = conn.PgConn().Exec(ctx, "ROLLBACK").ReadAll()
		return ids, err
	}
	return ids, nil
}

// deaf opens one session after the other that draws and never reads.
func (s *storm) deaf(ctx context.Context) {
	for ctx.Err() == nil {
		hangUp, err := server.Deaf(ctx, s.url)
		if err != nil {
			continue // the server is recovering
		}
		server.Pause(ctx, 300*time.Millisecond)
		hangUp()
	}
}

// trouble stops, cancels and terminates backends, and crashes the server twice.
func (s *storm) trouble(ctx context.Context, cluster *postgres.Cluster) {
	dice := rand.New(rand.NewPCG(1, 2))
	crashes := time.NewTicker(1700 * time.Millisecond)
	defer crashes.Stop()
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, s.url)
		if err != nil {
			continue // the server is recovering
		}
		for ctx.Err() == nil {
			pid, err := victim(ctx, conn)
			if err != nil {
				break
			}
			if !server.IsBackend(cluster, pid) {
				continue // it has ended, and another process may have its number
			}
			switch dice.IntN(8) {
			case 0:
				_, err = conn.Exec(ctx, "SELECT pg_terminate_backend($1)", pid)
			case 1, 2:
				_, err = conn.Exec(ctx, "SELECT pg_cancel_backend($1)", pid)
			default:
				_ = syscall.Kill(pid, syscall.SIGSTOP)
				pause := time.Duration(dice.IntN(60)) * time.Millisecond
				if s.long && dice.IntN(20) == 0 {
					pause = 400 * time.Millisecond
				}
				server.Pause(ctx, pause)
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
			if err != nil {
				break
			}
			select {
			case <-crashes.C:
				// if a backend is killed, the postmaster ends all others at once and recovers from the log
				_ = syscall.Kill(pid, syscall.SIGKILL)
			default:
			}
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

// victim returns the PID of a client's backend, chosen at random.
func victim(ctx context.Context, conn *pgx.Conn) (pid int, err error) {
	err = conn.QueryRow(ctx, `SELECT coalesce(
		(SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
			ORDER BY random() LIMIT 1), 0)`).Scan(&pid)
	if err == nil && pid == 0 {
		return 0, context.Canceled // no session is left
	}
	return pid, err
}

// enough is nil as soon as the storm has had the volume that proves something.
func (s *storm) enough() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) < 50_000 || s.broken.Load() == 0 {
		return fmt.Errorf("only %d IDs and %d broken statements: this proves nothing", len(s.ids), s.broken.Load())
	}
	return nil
}

func (s *storm) judge(t *testing.T) {
	t.Helper()
	total := len(s.ids)
	slices.Sort(s.ids)
	twice, foreign := 0, 0
	for i, id := range s.ids {
		if i > 0 && id == s.ids[i-1] {
			twice++
		}
		if id>>12&1023 != 0 {
			foreign++
		}
	}
	t.Logf("%d IDs, %d statements broken off", total, s.broken.Load())
	if twice > 0 {
		t.Errorf("%d IDs of %d came twice", twice, total)
	}
	if foreign > 0 {
		t.Errorf("%d IDs are of another worker than the function's, 0", foreign)
	}
	// If a holder is stopped again while the stand-in works, a few IDs may be out of order. A busy machine stops
	// holders, too. Nothing worse may happen.
	if n := s.disorder.Load(); n > int64(total/10_000) && !s.long {
		t.Errorf("%d IDs were not greater than the one before of the same session", n)
	}
	if err := s.enough(); err != nil {
		t.Error(err)
	}
	// a backend goes on for a while after its client has left
	server.Eventually(t, recovered(t, s.url), `NOT EXISTS (SELECT FROM pg_locks WHERE relation IN (
		'pgflurry.function_lock'::regclass, 'pgflurry.function_lock_stand_in'::regclass))`)
}
