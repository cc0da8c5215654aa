//go:build unix

package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/node"
	"pgflurry/internal/report"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

// young makes connections old soon, and never ends an old one that cannot be replaced.
func young(n *node.Node) { n.SetPauses(50*time.Millisecond, 300*time.Millisecond, time.Hour) }

// rare makes looks so rare that none comes by itself.
func rare(n *node.Node) { n.SetPauses(time.Hour, time.Hour, 0) }

// behind starts a node whose upstream and lease database are both at the switch.
func behind(t *testing.T, url, name string, change func(*node.Node)) *running {
	t.Helper()
	s := settings(t, url, name)
	s.Window = 6 * time.Second // renewed every two seconds
	r := start(t, s, change)
	r.answers(t)
	return r
}

// renewed waits for two more renewals, so that one began after the call.
func (r *running) renewed(t *testing.T) {
	t.Helper()
	before := r.State().Lease.Renewals["ok"]
	r.until(t, "two more renewals", func(s report.State) bool { return s.Lease.Renewals["ok"] >= before+2 })
}

// looked waits for two more looks.
func (r *running) looked(t *testing.T) {
	t.Helper()
	for range 2 {
		before := r.State().Databases[0].Judged
		r.until(t, "another look", func(s report.State) bool { return s.Databases[0].Judged.After(before) })
	}
}

func TestASwitchBehindOneAddressIsFollowedAlthoughTheOldConnectionsAreNotCut(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	way, url := network.Behind(t, direct)
	r := behind(t, url, "followed", young)
	session := r.connect(t) // a client's, which stays where it is
	way.Lead(server.Parse(t, direct).Host)
	way.Reached(1, 2)
	server.Do(t, session, "SELECT 1")
	session.Close(server.Within(t))
	way.Left(0) // the look and the lease are at the new place, and only there
	r.renewed(t)
	r.looked(t)
	if text, _ := r.log.read(); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
		t.Errorf("a switch that nobody noticed is news:\n%s", text)
	}
}

func TestASwitchToAServerWithoutTheDatabaseEndsThePermissionAndNothingIsWrittenToTheOldServer(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	way, url := network.Behind(t, direct)
	r := behind(t, url, "misled", young)
	conn := server.Connect(t, direct)
	way.Lead(server.Parse(t, server.Private(t, nil).URL("postgres")).Host)
	r.log.await(t, "does not exist (SQLSTATE 3D000)")
	way.Left(0)
	r.until(t, "that it answers nothing", func(s report.State) bool { return s.Databases[0].IDs == "none" })
	mark := server.Value[int64](t, conn, "SELECT max(reserved_until) FROM pgflurry.worker WHERE node = 'misled'")
	r.until(t, "that the lease is not renewed", func(s report.State) bool { return s.Lease.Cause != "" })
	if again := server.Value[int64](t, conn,
		"SELECT max(reserved_until) FROM pgflurry.worker WHERE node = 'misled'"); again != mark {
		t.Errorf("the mark of the old server rose from %d to %d", mark, again)
	}
}

// fails makes logins of the lease role fail, and mends that.
type fails struct {
	name, sqlstate string
	begin, end     func(t *testing.T, r *running, s config.Given, super *pgx.Conn)
}

func TestAFullServerAndAChangedPasswordLeaveIDsAndRenewalsOverTheOldConnections(t *testing.T) {
	for _, c := range []fails{
		{
			"lease_of_the_full", "53300",
			func(t *testing.T, _ *running, _ config.Given, super *pgx.Conn) {
				server.Do(t, super, "ALTER ROLE lease_of_the_full CONNECTION LIMIT 0")
			},
			func(t *testing.T, _ *running, _ config.Given, super *pgx.Conn) {
				server.Do(t, super, "ALTER ROLE lease_of_the_full CONNECTION LIMIT -1")
			},
		},
		{
			"lease_of_the_changed", "28P01",
			func(t *testing.T, _ *running, _ config.Given, super *pgx.Conn) {
				server.Do(t, super, "ALTER ROLE lease_of_the_changed PASSWORD 'new'")
			},
			func(t *testing.T, r *running, s config.Given, _ *pgx.Conn) {
				s.LeaseDatabase = server.As(t, r.direct, "lease_of_the_changed", "new")
				if err := r.reload(s); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(c.sqlstate, func(t *testing.T) {
			t.Parallel()
			direct := server.Migrated(t)
			server.Exec(t, direct, "CREATE ROLE "+c.name+" LOGIN PASSWORD 'old' IN ROLE login_scram; "+
				"CALL pgflurry.grant_lease('"+c.name+"')")
			t.Cleanup(func() { server.Exec(t, direct, "DROP OWNED BY "+c.name+" CASCADE; DROP ROLE "+c.name) })
			s := settings(t, direct, "kept")
			s.LeaseDatabase, s.Window = server.As(t, direct, c.name, "old"), 6*time.Second
			r := start(t, s, young)
			r.direct = direct
			r.answers(t)
			session, super := r.connect(t), server.Connect(t, direct)

			c.begin(t, r, s, super)
			for _, of := range []string{"lease", `"pgflurry serve, permission"`} {
				r.log.await(t, "level=WARN", "takes no new connection: the old one is used on", of, c.sqlstate)
			}
			r.renewed(t)
			r.looked(t)
			if _, worker := draw(t, session); worker == functionWorker {
				t.Error("the ID is of the database's function")
			}
			c.end(t, r, s, super)
			for _, of := range []string{"lease", `"pgflurry serve, permission"`} {
				r.log.await(t, "the old connection is replaced", of)
			}
			if text, _ := r.log.read(); strings.Contains(text, "level=ERROR") {
				t.Errorf("the log has an error:\n%s", text)
			}
		})
	}
}

func TestOldConnectionsToAFullServerAreClosedInTheEndAndThePermissionExpires(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	role := server.Role(t, direct, "lease_of_the_forgotten")
	server.Exec(t, direct, "CALL pgflurry.grant_lease('lease_of_the_forgotten')")
	s := settings(t, direct, "forgotten")
	s.LeaseDatabase = role
	r := start(t, s, func(n *node.Node) { n.SetPauses(50*time.Millisecond, 300*time.Millisecond, time.Second) })
	r.direct = direct
	r.answers(t)
	server.Exec(t, direct, "ALTER ROLE lease_of_the_forgotten CONNECTION LIMIT 0")
	r.log.await(t, "the old connection is closed", `"pgflurry serve, permission"`, "limit=1s")
	r.log.await(t, "the permission has expired", "SQLSTATE 53300")
	if _, worker := draw(t, r.connect(t)); worker != functionWorker {
		t.Errorf("the ID is of worker %d", worker)
	}
}

func TestASessionThatTheServerEndsMakesALookAndARenewalOverNewConnectionsAtOnce(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	looks, through := network.Behind(t, direct)
	leases, url := network.Behind(t, direct)
	s := settings(t, through, "suspicious")
	s.LeaseDatabase = url
	r := start(t, s, rare)
	r.answers(t)
	session := r.connect(t)
	before, seen, leased := r.State().Databases[0].Judged, looks.Taken(0), leases.Taken(0)
	pid := server.Value[int](t, session, "SELECT pg_backend_pid()")
	super := server.Connect(t, direct)
	server.Do(t, super, "SELECT pg_terminate_backend($1, 10000)", pid)
	looks.Reached(0, seen+1)
	leases.Reached(0, leased+1)
	r.until(t, "another look", func(s report.State) bool { return s.Databases[0].Judged.After(before) })
}

func TestAReloadMakesALookOverANewConnectionAtOnce(t *testing.T) {
	t.Parallel()
	way, url := network.Behind(t, server.Migrated(t))
	s := settings(t, url, "reloaded")
	r := start(t, s, rare)
	r.answers(t)
	before, taken := r.State().Databases[0].Judged, way.Taken(0)
	if err := r.reload(s); err != nil {
		t.Fatal(err)
	}
	way.Reached(0, taken+2) // those of the look and of the lease
	r.until(t, "another look", func(s report.State) bool { return s.Databases[0].Judged.After(before) })
}

func TestManySessionsThatTheServerEndsCauseFewLogins(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	leases, url := network.Behind(t, direct)
	looks, through := network.Behind(t, direct)
	s := settings(t, through, "attacked")
	s.LeaseDatabase, s.Databases = url, []string{server.Name(t, direct)}
	for range 6 {
		s.Databases = append(s.Databases, server.Name(t, server.Database(t))) // looks at an empty database fail
	}
	r := start(t, s, func(n *node.Node) { n.SetPauses(time.Millisecond, time.Hour, 0) })
	looks.Reached(0, len(s.Databases))
	r.until(t, "a permission", func(s report.State) bool { return s.Databases[0].IDs == "all" && s.Lease.Held })
	super := server.Connect(t, direct)

	began, before, sessions := time.Now(), looks.Taken(0)+leases.Taken(0), 0
	for range 5 {
		var pids []int
		for range 20 {
			session := r.connect(t)
			pids = append(pids, server.Value[int](t, session, "SELECT pg_backend_pid()"))
		}
		sessions += len(pids)
		server.Do(t, super, "SELECT pg_terminate_backend(pid, 10000) FROM unnest($1::int[]) AS pid", pids)
		if _, worker := draw(t, r.connect(t)); worker == functionWorker {
			t.Error("an ID is of the database's function")
		}
		sessions++
	}
	logins := looks.Taken(0) + leases.Taken(0) - before - sessions
	// Two a second after four; a connection may use its place later than the place's time.
	most := 4 + 2*int(time.Since(began).Seconds()+1) + len(s.Databases)
	if logins == 0 || logins > most {
		t.Errorf("%d logins after %d sessions that were ended in %v, expected at most %d",
			logins, sessions, time.Since(began), most)
	}
}
