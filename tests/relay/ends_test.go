package relay

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/server"
)

func TestTheFATALOfATerminatedBackendComesOnce(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	look := server.Connect(t, direct)
	var ends [2][]string
	for i, where := range []string{direct, at} {
		u := server.Parse(t, where)
		idle := open(t, u.Host, u.Path[1:], "application_name", "idle")
		if where == at {
			idle.say(query(ours))
			idle.until('Z')
		}
		block := open(t, u.Host, u.Path[1:], "application_name", "idle")
		block.say(query("BEGIN"))
		block.until('Z')
		busy := open(t, u.Host, u.Path[1:], "application_name", "busy")
		busy.say(query("SELECT pg_sleep(600)"))
		server.Sleeps(t, look, "busy")
		n := one(t, look, "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity "+
			"WHERE application_name IN ('idle', 'busy') AND datname = current_database()")
		if n != "3" {
			t.Fatalf("%s backends were terminated; expected 3", n)
		}
		for _, r := range []*raw{idle, block, busy} {
			ends[i] = append(ends[i], r.rest()...)
		}
	}
	if n := strings.Count(strings.Join(ends[1], ""), "VFATAL\x00C57P01"); n != 3 || !slices.Equal(ends[0], ends[1]) {
		t.Errorf("terminated backends said\n%q directly and\n%q through the proxy; "+
			"expected one FATAL each, and the same", ends[0], ends[1])
	}
}

// The server ends in each of its ways, and comes back on the same port.
func TestSessionsEndWithTheServerAndNewOnesBeginWithTheNext(t *testing.T) {
	t.Parallel()
	binaries := server.Binaries(t)
	for name, signal := range map[string]syscall.Signal{"fast": syscall.SIGINT, "immediate": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			cluster := server.Private(t, nil)
			direct := cluster.URL("postgres")
			at, p := through(t, direct)
			straight, proxied := openURL(t, direct), openURL(t, at)
			if err := syscall.Kill(cluster.PID, signal); err != nil {
				t.Fatal(err)
			}
			want, got := straight.rest(), proxied.rest()
			if len(got) > 0 && name == "immediate" {
				last := got[len(got)-1]
				if !strings.Contains(last, "VFATAL\x00C08006\x00") {
					t.Errorf("the last word is %q; expected the proxy's own FATAL, since PostgreSQL gave none", last)
				}
				got = got[:len(got)-1]
			}
			if name == "immediate" {
				// Each backend tries once to warn its client, and may be killed before it has (quickdie in postgres.c).
				if len(want) > 1 || len(got) > 1 {
					t.Errorf("PostgreSQL ended with %q, and through the proxy with %q; expected a warning each at most",
						want, got)
				}
				want, got = withoutWarning(want), withoutWarning(got)
			}
			if !slices.Equal(want, got) {
				t.Errorf("PostgreSQL ended with %q, and through the proxy with %q", want, got)
			}
			<-cluster.Done()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			again, err := postgres.Start(ctx, postgres.Settings{
				Provider: postgres.Provider{Binaries: binaries}, Data: cluster.Data, Port: cluster.Port,
				Options: map[string]string{"fsync": "off"},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Stop(ctx)
			after := openURL(t, at)
			after.say(query("SELECT 'after'"))
			if said := strings.Join(after.until('Z'), "|"); !strings.Contains(said, "after") {
				t.Errorf("after the restart the server says %q", said)
			}
			after.conn.Close()
			if st := p.Stats(); st.Opened != 2 {
				t.Errorf("%d sessions were opened; expected 2", st.Opened)
			}
		})
	}
}

// withoutWarning removes PostgreSQL's warning of an immediate shutdown.
func withoutWarning(said []string) (rest []string) {
	for _, s := range said {
		if !strings.Contains(s, "VWARNING\x00C57P01\x00") {
			rest = append(rest, s)
		}
	}
	return rest
}

// With client_connection_check_interval, PostgreSQL checks during a query whether the client is still there.
func TestTheQueryOfAClientThatVanishesIsEndedByPostgreSQL(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	look := server.Connect(t, direct)
	u := server.Parse(t, at)
	for name, vanish := range map[string]func(*raw){
		"closes":    func(r *raw) { r.conn.Close() },
		"is killed": func(r *raw) { _ = r.conn.SetLinger(0); r.conn.Close() }, // sends a RST
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, u.Host, u.Path[1:], "application_name", "vanishing", "options",
				"-c client_connection_check_interval=50")
			r.say(query("SELECT pg_sleep(600)"))
			server.Sleeps(t, look, "vanishing")
			vanish(r)
			server.Eventually(t, look, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'vanishing')")
		})
	}
}

// After 57P03 libpq tries the next host.
func TestAServerThatIsAwayIsToldAsSuchAndLibpqTriesTheNextHost(t *testing.T) {
	t.Parallel()
	away, _ := inFront(t, "127.0.0.1:1")
	r := dial(t, away)
	r.say(hello(version30, "user", "ann"))
	if said := r.rest(); len(said) != 1 || !strings.Contains(said[0], "C57P03") || !strings.Contains(said[0], "\x00H") {
		t.Errorf("the client is told %q; expected one FATAL 57P03 with a hint", said)
	}
	at, p := through(t, server.Database(t))
	u := server.Parse(t, at)
	first, next := strings.Split(away, ":"), strings.Split(u.Host, ":")
	out, err := exec.Command("psql", "-XAtc", "SELECT 'reached'",
		"host="+first[0]+","+next[0]+" port="+first[1]+","+next[1]+
			" user=postgres dbname="+u.Path[1:]).CombinedOutput()
	if err != nil || string(out) != "reached\n" || p.Stats().Opened != 1 {
		t.Errorf("psql with two hosts, the first without a server, ended with %v and said %q", err, out)
	}
}
