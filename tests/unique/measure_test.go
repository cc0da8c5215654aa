package unique

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/lease"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// These benchmarks measure the figures of docs/uniqueness.md: make measure-lease. They use the default window, skew and
// quarantine unless a name says otherwise.

// spread reports the least, the median and the greatest value.
func spread(b *testing.B, what string, measured []float64) {
	b.Helper()
	slices.Sort(measured)
	b.ReportMetric(measured[0], what+"-min")
	b.ReportMetric(measured[len(measured)/2], what+"-median")
	b.ReportMetric(measured[len(measured)-1], what+"-max")
	b.ReportMetric(0, "ns/op")
}

// From the kill until another process has issued an ID from memory, to a client that connects as soon as it can.
func BenchmarkSecondsFromSIGKILLToAnIDOfTheReplacement(b *testing.B) {
	b.Run("that is started then", func(b *testing.B) {
		r := &room{t: b, direct: server.Migrated(b), workers: 1024}
		p := program.Serve(b, r.direct, "node")
		var took []float64
		for b.Loop() {
			begin := time.Now()
			p.Signal(syscall.SIGKILL)
			p = program.ServeUnleased(b, r.direct, "node")
			untilProxy(b, r, p.URL)
			took = append(took, time.Since(begin).Seconds())
		}
		spread(b, "s", took)
	})
	b.Run("that runs already", func(b *testing.B) {
		r := &room{t: b, direct: server.Migrated(b), workers: 1024}
		p, spare := program.Serve(b, r.direct, "one"), program.Serve(b, r.direct, "two")
		var took []float64
		for b.Loop() {
			begin := time.Now()
			p.Signal(syscall.SIGKILL)
			untilProxy(b, r, spare.URL)
			took = append(took, time.Since(begin).Seconds())
			p, spare = spare, program.Serve(b, r.direct, "again")
		}
		spread(b, "s", took)
	})
	b.Run("on the only worker, window 1 s, quarantine 1.2 s", func(b *testing.B) {
		r := newRoom(b, oneWorker)
		p := program.Serve(b, r.direct, "node", short)
		var took []float64
		for b.Loop() {
			begin := time.Now()
			p.Signal(syscall.SIGKILL)
			p = program.ServeUnleased(b, r.direct, "node", short)
			untilProxy(b, r, p.URL)
			took = append(took, time.Since(begin).Seconds())
		}
		spread(b, "s", took)
	})
}

// untilProxy draws on one connection until a proxy answers.
func untilProxy(b *testing.B, r *room, url string) {
	b.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	for {
		id, err := one(conn)
		if err != nil {
			b.Fatal(err)
		}
		if r.byProxy(id) {
			return
		}
	}
}

// PostgreSQL freezes once under nine proxies with an open session each. Each proxy is at another point between two
// renewals.
func BenchmarkSecondsOfIDsWhilePostgreSQLHangs(b *testing.B) {
	var lasted []float64
	for b.Loop() {
		if lasted != nil {
			continue // one freeze measures all nine
		}
		lasted = freezeOnce(b)
	}
	spread(b, "s", lasted)
}

func freezeOnce(b *testing.B) []float64 {
	cluster := server.Private(b, nil)
	url := cluster.URL("postgres")
	server.Migrate(b, url, migrations.Settings{})
	r := &room{t: b, direct: url, conn: server.Connect(b, url), workers: 1024}
	const proxies = 9
	var conns []*pgx.Conn
	for i := range proxies {
		p := program.Serve(b, url, fmt.Sprint("node ", i))
		conns = append(conns, server.Connect(b, p.URL))
		server.Pause(b.Context(), 20*time.Second/proxies) // spreads the proxies over the time between two renewals
	}
	// wait until the windows have their full length
	for grown := 0; grown < proxies; server.Pause(b.Context(), time.Second) {
		grown = ask[int](r, `SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy'
			AND reserved_until - pgflurry.ticks(renewed_at) >= 59000`)
	}
	thaw := server.Freeze(b, cluster)
	begin := time.Now()
	lasted := make([]float64, proxies)
	var all sync.WaitGroup
	for i, conn := range conns {
		all.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				var id int64
				err := conn.QueryRow(ctx, "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id)
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					return // the proxy has forwarded to the frozen server
				}
				if err != nil {
					b.Error(err)
					return
				}
				lasted[i] = time.Since(begin).Seconds()
				server.Pause(context.Background(), 5*time.Millisecond)
			}
		})
	}
	all.Wait()
	thaw()
	return lasted
}

// A hundred leases with the default window, long after their start, on a server that makes every commit durable.
func BenchmarkWritesOfALease(b *testing.B) {
	const leases = 100
	cluster := server.Private(b, map[string]string{"fsync": "on", "full_page_writes": "on", "checkpoint_timeout": "1h"})
	url := cluster.URL("postgres")
	server.Migrate(b, url, migrations.Settings{})
	r := &room{t: b, direct: url, conn: server.Connect(b, url)}
	r.cores(leases, lease.Settings{FirstWindow: time.Minute})
	const length = 100 * time.Second // five renewals of each
	var writes, bytes float64
	for b.Loop() {
		if writes > 0 {
			continue
		}
		begin := r.written()
		server.Pause(b.Context(), length)
		end := r.written()
		writes = float64(end.renewals-begin.renewals) / leases / length.Seconds()
		bytes = float64(end.bytes-begin.bytes) / leases / length.Seconds()
	}
	b.ReportMetric(writes, "writes/s/lease")
	b.ReportMetric(bytes/writes, "WAL-bytes/write")
	b.ReportMetric(0, "ns/op")
}

type written struct{ renewals, bytes int64 }

func (r *room) written() (w written) {
	r.t.Helper()
	r.do("SELECT pg_stat_force_next_flush()")
	const query = `SELECT
		(SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'worker'),
		(SELECT wal_bytes::bigint FROM pg_stat_wal)`
	err := r.conn.QueryRow(context.Background(), query).Scan(&w.renewals, &w.bytes)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

// All 1008 workers for proxies of the default layout. As many cores start at once and open a connection each, sixteen
// at a time.
func BenchmarkSecondsUntilAllWorkersAreTaken(b *testing.B) {
	var took []float64
	for b.Loop() {
		r := &room{t: b, direct: server.Migrated(b)}
		r.switchTo(r.direct)
		n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy'")
		begin := time.Now()
		_, stop := r.cores(n, lease.Settings{FirstWindow: time.Minute})
		took = append(took, time.Since(begin).Seconds())
		stop()
	}
	spread(b, "s", took)
}
