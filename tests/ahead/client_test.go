//go:build full

package ahead

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"pgflurry/client"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// patient never lets a draw time out or an ID get too old, even on a busy machine.
var patient = client.Settings{MaxAge: time.Hour, Timeout: server.Patience}

func pool(t testing.TB, source client.Source, settings client.Settings) *client.Pool {
	t.Helper()
	p, err := client.New(source, settings)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// connections returns a pool of pgx.
func connections(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// database opens pgx's driver for database/sql.
func database(t *testing.T, url string) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() })
	return db
}

func next(t *testing.T, p *client.Pool) int64 {
	t.Helper()
	id, err := p.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestEachWayOfConnectingDrawsFromTheProxysMemory(t *testing.T) {
	server.NoLeak(t)
	s := serve(t)
	db := database(t, s.URL)
	one, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close() })
	sources := map[string]client.Source{
		"a connection of pgx":     client.Pgx(server.Connect(t, s.URL)),
		"a *sql.DB":               client.SQL(db),
		"a *sql.Conn":             client.SQL(one),
		"a pool of pgx":           client.Pgx(connections(t, s.URL)),
		"a pool, exec":            client.Pgx(connections(t, s.URL+"&default_query_exec_mode=exec")),
		"a pool, describe_exec":   client.Pgx(connections(t, s.URL+"&default_query_exec_mode=describe_exec")),
		"a pool, cache_describe":  client.Pgx(connections(t, s.URL+"&default_query_exec_mode=cache_describe")),
		"a pool, ID database":     client.Pgx(connections(t, server.In(t, s.URL, idDatabase))),
		"a *sql.DB, ID database":  client.SQL(database(t, server.In(t, s.URL, idDatabase))),
		"a pool, simple_protocol": client.Pgx(connections(t, s.URL+"&default_query_exec_mode=simple_protocol")),
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			p := pool(t, source, patient)
			for range 100 {
				s.record(t, next(t, p))
			}
			ids, err := p.NextN(t.Context(), 12_345)
			if err != nil {
				t.Fatal(err)
			}
			s.record(t, ids...)
		})
	}
}

// In some modes of pgx the proxy forwards a call whose number is a parameter, and PostgreSQL's function answers.
// docs/in-your-program.md says which. So client.Pgx writes the number into the text.
func TestInWhichModesOfPgxTheFunctionGivesIDsWhoseNumberIsAParameter(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for mode, fromFunction := range map[string]bool{
		"exec": true, "cache_describe": true, "cache_statement": false,
		"describe_exec": false, "simple_protocol": false,
	} {
		conn := server.Connect(t, s.URL+"&default_query_exec_mode="+mode)
		id := server.Value[int64](t, conn, "SELECT * FROM next_snowflakes($1)", 1)
		if (worker(id) == databaseWorker) != fromFunction {
			t.Errorf("%s: ID %d is of worker %d; of the function: expected %v", mode, id, worker(id), fromFunction)
		}
	}
}

func TestManyGoroutinesDrawInFewStatements(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := pool(t, client.Pgx(connections(t, s.URL)), patient)
	before := s.drawn(t)
	const goroutines, each = 50, 2_000
	var drawing sync.WaitGroup
	for range goroutines {
		drawing.Go(func() {
			last := int64(0)
			for range each {
				id, err := p.Next(t.Context())
				if err != nil || id <= last {
					t.Errorf("Next gave %d, %v; expected more than %d", id, err, last)
					return
				}
				last = id
				if err := s.seen.Add(id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	drawing.Wait()
	if n := s.seen.Len(); n != goroutines*each {
		t.Errorf("%d IDs were given; expected %d", n, goroutines*each)
	}
	// a hundred batches of 1,000, and about ten smaller ones before the pool had grown to that
	if n := s.drawn(t) - before; n < 100 || n > 115 {
		t.Errorf("the proxy answered %d statements for %d IDs; expected about 110", n, goroutines*each)
	}
}

func TestAProxyThatIsReplacedIsNotNoticed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sources := map[string]client.Source{
		"pgx": client.Pgx(connections(t, s.URL)), "database/sql": client.SQL(database(t, s.URL)),
	}
	pools := make(map[string]*client.Pool)
	for name, source := range sources {
		pools[name] = pool(t, source, client.Settings{MaxBatch: 1, Timeout: server.Patience})
		s.record(t, next(t, pools[name]))
	}
	s.replace(t)
	for name, p := range pools {
		id, err := p.Next(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s.record(t, id)
	}
}

func TestNoIDComesTwiceAndDrawsGoOnWhenProxiesAreKilledUnderLoad(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := pool(t, client.Pgx(connections(t, s.URL)), client.Settings{MaxBatch: 64, Timeout: server.Patience})
	var drawn atomic.Int64
	thousand, ended := make(chan struct{}, 1), make(chan struct{})
	var drawing sync.WaitGroup
	for range 8 {
		drawing.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				id, err := p.Next(t.Context())
				if err != nil {
					continue // no proxy runs at this moment
				}
				if drawn.Add(1)%1_000 == 0 {
					select {
					case thousand <- struct{}{}:
					default:
					}
				}
				if err := s.seen.Add(id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		<-thousand
		<-thousand // two rounds: one of them began after the last replacement
		s.replace(t)
	}
	<-thousand
	<-thousand
	close(ended)
	drawing.Wait()
}

func TestWithoutAProxyTheErrorSaysWhatWasTriedAndTheNextCallDrawsAgain(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := pool(t, client.Pgx(connections(t, s.URL+"&connect_timeout=5")), client.Settings{Timeout: server.Patience})
	s.record(t, next(t, p))
	s.Signal(syscall.SIGTERM)
	s.End()
	if ids, err := p.NextN(t.Context(), 300); err == nil ||
		!strings.HasPrefix(err.Error(), "drawing 512 IDs failed twice: ") {
		t.Errorf("NextN gave %d IDs, %v", len(ids), err)
	}
	s.start(t)
	s.record(t, next(t, p))
}

func TestDrawsGoOnWhilePostgreSQLIsSilent(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	if err := migrations.Up(t.Context(), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	s := serveAt(t, url)
	p := pool(t, client.Pgx(connections(t, s.URL+"&pool_max_conns=1")), client.Settings{Timeout: server.Patience})
	s.record(t, next(t, p))
	thaw := server.Freeze(t, cluster)
	ids, err := p.NextN(t.Context(), 5_000)
	thaw()
	if err != nil {
		t.Fatal(err)
	}
	s.record(t, ids...)
}

func TestWithoutAProxyTheFunctionGivesTheIDs(t *testing.T) {
	t.Parallel()
	p := pool(t, client.Pgx(connections(t, server.Migrated(t))), patient)
	ids, err := p.NextN(t.Context(), 12_345)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if worker(id) != databaseWorker || i > 0 && id <= ids[i-1] {
			t.Fatalf("ID %d came after %d", id, ids[max(i-1, 0)])
		}
	}
}

func TestADatabaseWithoutTheFunctionIsToldFromOthers(t *testing.T) {
	t.Parallel()
	p := pool(t, client.Pgx(connections(t, server.Database(t))), patient)
	if id, err := p.Next(t.Context()); err == nil || !strings.Contains(err.Error(), `"pgflurry migrate up" makes`) {
		t.Errorf("Next gave %d, %v", id, err)
	}
}

// The pool has no connection left for a draw, because a transaction of the program holds the only one. The call ends
// with its context.
func TestACallThatCannotHaveAConnectionEndsByItsContext(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	only := connections(t, url+"&pool_max_conns=1")
	tx, err := only.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{}, 1)
	source := client.Pgx(only)
	p := pool(t, func(ctx context.Context, n int) ([]int64, error) {
		began <- struct{}{}
		return source(ctx, n)
	}, patient)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := p.Next(ctx)
		ended <- err
	}()
	<-began
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	next(t, p) // the draw that was given up goes on, and has a connection now
}

// insertOrder is what docs/in-your-program.md shows.
// snippet: begin
func insertOrder(ctx context.Context, db *pgxpool.Pool, ids *client.Pool, names []string) ([]int64, error) {
	keys, err := ids.NextN(ctx, len(names))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, "INSERT INTO item (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])", keys, names)
	return keys, err
}

// snippet: end

func TestRowsGetTheIDsThatWereDrawnForThem(t *testing.T) {
	t.Parallel()
	s := serve(t)
	db := connections(t, s.URL)
	keys, err := insertOrder(t.Context(), db, pool(t, client.Pgx(connections(t, s.URL)), patient), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	s.record(t, keys...)
	server.Eventually(t, server.Connect(t, s.direct),
		"(SELECT array_agg(id ORDER BY name) FROM item) = $1::bigint[]", keys)
}
