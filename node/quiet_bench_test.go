//go:build unix

package node_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/fresh"
	"pgflurry/tests/support/server"
)

// BenchmarkWake measures how long the first client of a quiet node waits, and the same client at one that is awake. It
// also says after how long a quiet node gives IDs from memory again.
func BenchmarkWake(b *testing.B) {
	s := quietly(b, "woken")
	s.QuietAfter = 2 * time.Second
	r := start(b, s)
	r.answers(b)
	relay := func() *pgx.Conn { return r.connect(b) }
	inside := func() *pgx.Conn { return r.inside(b) }
	for _, c := range []struct {
		name           string
		open           func() *pgx.Conn
		session, draws bool // it was open before; it draws an ID
	}{
		{"login", relay, false, false},
		{"login and ID", relay, false, true},
		{"ID in a session", relay, true, true},
		{"login to the ID database", inside, false, false},
		{"login and ID in the ID database", inside, false, true},
		{"ID in a session of the ID database", inside, true, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			waits := make(map[string][]time.Duration)
			for b.Loop() {
				conn := c.open()
				since := r.becomesQuiet(b)
				for _, node := range []string{"quiet", "awake"} {
					began := time.Now()
					if !c.session {
						conn.Close(server.Within(b))
						began = time.Now()
						conn = c.open()
					}
					if c.draws {
						draw(b, conn)
					}
					waits[node] = append(waits[node], time.Since(began))
					if node == "quiet" {
						for s := r.State(); s.Woken.Before(since) || s.Databases[0].IDs != "all"; s = r.State() {
							if fresh.Rest(b.Context(), time.Millisecond, nil); s.QuietSince.After(since) {
								b.Fatal("it was quiet again before it had looked: the machine is too busy")
							}
						}
						waits["answering"] = append(waits["answering"], time.Since(began))
					}
				}
				conn.Close(server.Within(b))
			}
			for of, all := range waits {
				slices.Sort(all)
				for _, p := range []int{50, 95} {
					wait := all[(len(all)-1)*p/100]
					b.ReportMetric(float64(wait)/float64(time.Millisecond), fmt.Sprintf("%s-p%d-ms", of, p))
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
