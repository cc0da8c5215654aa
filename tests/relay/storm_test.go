//go:build full

package relay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// A login takes six seconds, as on a machine that is overloaded, and clients give up after ten and come again.
const (
	slowLogin  = 6 * time.Second
	givesUp    = 10 * time.Second
	comesAgain = time.Second
	atOnce     = 64 // the default of --max-upstream-logins
	ofTheProxy = 3  // its own logins: lease, look and survey
	guests     = 8  // clients of the ID database
)

// The proxy once gave up logins that waited for PostgreSQL. Then nobody ever got in, and each had cost a backend.
func TestAStormOfLoginsAtASlowServerEnds(t *testing.T) {
	clients := volume.Of(150, 450)
	cluster := server.Private(t, map[string]string{"max_connections": "700"})
	direct := cluster.URL("postgres")
	server.Migrate(t, direct, migrations.Settings{})
	control := server.Connect(t, direct)
	p := program.Serve(t, direct, "storm", "--id-database", "ids", "--id-auth", "trust")
	server.Exec(t, direct, fmt.Sprintf("ALTER SYSTEM SET pre_auth_delay = '%ds'", int(slowLogin.Seconds())))
	server.Do(t, control, "SELECT pg_reload_conf()")

	var tries atomic.Int64
	var in, all sync.WaitGroup
	allIn, begun := make(chan struct{}), time.Now()
	for range clients {
		in.Add(1)
		all.Go(func() {
			conn := entersAtLast(t, p.URL, &tries)
			in.Done()
			<-allIn
			if conn != nil {
				_ = conn.Close(context.WithoutCancel(t.Context()))
			}
		})
	}
	go func() { in.Wait(); close(allIn) }()

	most, ids := 0, server.In(t, p.URL, "ids")
	for guest, over := 0, false; !over; {
		select {
		case <-allIn:
			over = true
		default:
			if most = max(most, underWay(t, cluster, control)); most >= atOnce && guest < guests {
				guest++
				conn := server.Connect(t, ids)
				server.Value[int64](t, conn, "SELECT next_snowflake()")
				if guest == guests {
					t.Logf("%d clients of the ID database are in after %v", guests, time.Since(begun))
				}
			}
		}
	}
	t.Logf("%d clients are in after %v and %d tries; %d logins at once at most", clients, time.Since(begun),
		tries.Load(), most)
	all.Wait()
	if most < atOnce || most > atOnce+ofTheProxy {
		t.Errorf("%d logins were under way at PostgreSQL at once; expected %d, and up to %d of the proxy",
			most, atOnce, ofTheProxy)
	}
	if said := p.Output(); strings.Contains(said, "gives way") || strings.Contains(said, "lease lost") {
		t.Errorf("a login gave way, or the lease was lost:\n%s", said)
	}
}

// entersAtLast comes again until it is in.
func entersAtLast(t *testing.T, url string, tries *atomic.Int64) *pgx.Conn {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	config.ConnectTimeout = givesUp
	for t.Context().Err() == nil {
		tries.Add(1)
		if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
			return conn
		}
		server.Pause(t.Context(), comesAgain)
	}
	return nil
}

// underWay counts the connections of a server that are no sessions yet. A client that has gone does not count, though
// PostgreSQL notices that only after its delay.
func underWay(t *testing.T, cluster *postgres.Cluster, control *pgx.Conn) (n int) {
	t.Helper()
	before := server.ClientPorts(t, cluster)
	sessions := server.Values[int](t, control, "SELECT client_port FROM pg_stat_activity WHERE client_port IS NOT NULL")
	after := server.ClientPorts(t, cluster)
	for _, port := range before {
		if slices.Contains(after, port) && !slices.Contains(sessions, port) {
			n++
		}
	}
	return n
}
