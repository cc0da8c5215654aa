package leasing

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// The costs that docs/operations.md gives for the statements of a lease: make measure-scale. Each benchmark has a
// server of its own, which makes every commit durable. It uses one open connection unless it says otherwise.

// On worker tables of each size: with all workers never used, all used and released, all held.
func BenchmarkAnAcquisition(b *testing.B) {
	for _, layout := range []string{"41/0/10/12", "41/0/13/9", "41/0/16/6"} {
		cluster := server.Private(b, map[string]string{"fsync": "on"})
		url := cluster.URL("postgres")
		if err := migrations.Up(b.Context(), url, migrations.Settings{Layout: layout}); err != nil {
			b.Fatal(err)
		}
		for _, state := range []struct {
			name, sql string
			refused   bool
		}{
			{"unused", "UPDATE pgflurry.worker SET term = term", false},
			{
				"released", "UPDATE pgflurry.worker SET term = term + 1, owner = gen_random_uuid(), " +
					"node = 'x' || worker, released_at = now(), renewed_at = now() WHERE kind = 'proxy'", false,
			},
			{
				"none_free", "UPDATE pgflurry.worker SET released_at = NULL, " +
					"reserved_until = pgflurry.ticks(now()) + 3600000 WHERE kind = 'proxy'", true,
			},
		} {
			b.Run(layout+"/"+state.name, func(b *testing.B) {
				r := enter(b, url)
				r.do(state.sql)
				r.do("VACUUM ANALYZE pgflurry.worker")
				acquire(b, r, state.refused)
			})
		}
	}
}

// acquire takes one worker after the other for nodes that are new. If refused is true, every attempt fails.
func acquire(b *testing.B, r *room, refused bool) {
	store := r.store(r.url)
	for b.Loop() {
		_, err := store.Acquire(b.Context(), r.request(fmt.Sprint("node-", r.owners)))
		if refusal := new(lease.Refusal); refused != errors.As(err, &refusal) || err != nil && !refused {
			b.Fatal(err)
		}
	}
}

// Renewals in the default layout, by as many proxies at once as there are connections.
func BenchmarkARenewal(b *testing.B) {
	cluster := server.Private(b, map[string]string{"fsync": "on", "max_connections": "100"})
	url := cluster.URL("postgres")
	if err := migrations.Up(b.Context(), url, migrations.Settings{}); err != nil {
		b.Fatal(err)
	}
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			r := enter(b, url)
			var stores []*lease.Postgres
			var leases []lease.Acquired
			for range clients {
				s := r.store(url)
				stores, leases = append(stores, s), append(leases, r.acquire(s, fmt.Sprint("node-", r.owners)))
			}
			left := atomic.Int64{}
			left.Store(int64(b.N))
			begin := time.Now()
			var all sync.WaitGroup
			for i, s := range stores {
				all.Go(func() {
					asked := renewal(leases[i], 1<<40) // the greatest mark that the statement allows
					for left.Add(-1) >= 0 {
						answer, err := s.Renew(b.Context(), asked)
						if err != nil {
							b.Error(err)
							return
						}
						asked.Acknowledged = answer.Until
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "renewals/s")
		})
	}
}

// The statement by which a proxy asks each of its databases for permission, every two seconds.
func BenchmarkAQuestionForPermission(b *testing.B) {
	r := enter(b, server.Migrated(b))
	used := r.processor()
	for i := 0; b.Loop(); i++ {
		if _, err := namespace.Answerable(b.Context(), r.conn, r.namespace); err != nil {
			b.Fatal(err)
		}
		if i%5 == 0 { // as often as a proxy asks this
			if _, err := namespace.MendSequences(b.Context(), r.conn); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric((r.processor()-used).Seconds()*1000/float64(b.N), "server-ms/op")
}

// processor returns the processor time of the room's session, to a hundredth of a second.
func (r *room) processor() time.Duration {
	r.t.Helper()
	pid := ask[int](r, "SELECT pg_backend_pid()")
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		r.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ") // behind the name of the program
	fields := strings.Fields(after)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		r.t.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		r.t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// The statement of a proxy with --admin-listen, on a table whose workers are all held.
func BenchmarkASurvey(b *testing.B) {
	for _, layout := range []string{"41/0/10/12", "41/0/14/8"} {
		b.Run(layout, func(b *testing.B) {
			r := enter(b, server.MigratedWith(b, migrations.Settings{Layout: layout}))
			r.do("UPDATE pgflurry.worker SET term = 1, owner = gen_random_uuid(), node = 'x' || worker, " +
				"renewed_at = now(), acquired_at = now(), reserved_until = pgflurry.ticks(now()) + 60000 " +
				"WHERE kind = 'proxy'")
			used := r.processor()
			for b.Loop() {
				if _, err := lease.List(b.Context(), r.conn, false); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((r.processor()-used).Seconds()*1000/float64(b.N), "server-ms/op")
		})
	}
}
