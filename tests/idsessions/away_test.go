package idsessions

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
	"pgflurry/migrations"
	"pgflurry/postgres"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// window is how long PostgreSQL may be away. PGFLURRY_TEST_AWAY=5m makes it minutes, and has it away for as long.
func window(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("PGFLURRY_TEST_AWAY")
	if text == "" {
		return 8 * time.Second
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < 5*time.Second {
		t.Fatalf("PGFLURRY_TEST_AWAY is %q; expected a length of time of at least 5 s, such as 5m", text)
	}
	return length
}

// scene is a server of its own, and a proxy with an ID database in front of it.
type scene struct {
	t       *testing.T
	cluster *postgres.Cluster
	direct  string
	link    *network.Link // between proxy and server
	app     string        // URL of the ID database
	window  time.Duration
	pace    *time.Ticker // so that clients leave the processor to the server
	seen    *recorder.Recorder
	conn    *pgx.Conn // a session of the ID database that stays
}

func newScene(t *testing.T, window time.Duration) *scene {
	t.Helper()
	cluster := server.Private(t, nil)
	s := &scene{t: t, cluster: cluster, direct: cluster.URL("postgres"), window: window}
	longest := max(window, time.Minute)
	if err := migrations.Up(t.Context(), s.direct, migrations.Settings{MaxWindow: longest}); err != nil {
		t.Fatal(err)
	}
	add(t, s.direct, user, password)
	link, through := network.To(t, s.direct)
	s.link = link
	d := opening(t, s.direct, "--upstream", link.Address(), "--lease-database", through, "--window", window.String())
	d.Line("worker acquired")
	d.Line("accounts of the ID database are read")
	s.app = d.url(password, "sslmode=disable")
	s.pace = time.NewTicker(max(20*time.Millisecond, window/1000))
	t.Cleanup(s.pace.Stop)
	s.seen = recorder.New(t.TempDir(), 64<<20)
	t.Cleanup(func() { _ = s.seen.Close() })
	s.conn = s.login()
	t.Cleanup(func() { _ = s.conn.Close(context.Background()) })
	return s
}

// login opens a session of the ID database, which must be possible at any time.
func (s *scene) login() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(server.Within(s.t), s.app)
	if err != nil {
		s.t.Fatalf("logging in: %v", err)
	}
	return conn
}

// draw draws an ID that nobody has seen, and returns its tick. It fails with 57P03 at most.
func (s *scene) draw(conn *pgx.Conn) (tick int64, said *pgconn.PgError) {
	s.t.Helper()
	var id int64
	err := conn.QueryRow(server.Within(s.t), "SELECT next_snowflake()").Scan(&id)
	switch {
	case errors.As(err, &said) && said.Code == "57P03":
		return 0, said
	case err != nil:
		s.t.Fatalf("drawing: %v", err)
	}
	if err := s.seen.Add(id); err != nil {
		s.t.Fatal(err)
	}
	parts, err := generator.DefaultLayout().Decode(id)
	if err != nil {
		s.t.Fatal(err)
	}
	return parts.Tick, nil
}

// must draws where there are IDs.
func (s *scene) must(conn *pgx.Conn) (tick int64) {
	s.t.Helper()
	tick, said := s.draw(conn)
	if said != nil {
		s.t.Fatalf("no ID: %v (%s)", said, said.Hint)
	}
	return tick
}

// goOn draws on the session that stays and on a new one each time, until there is no ID or enough says so. It returns
// the tick of the last ID.
func (s *scene) goOn(enough func(tick int64) bool) (last int64, said *pgconn.PgError) {
	s.t.Helper()
	for {
		tick, said := s.draw(s.conn)
		if said != nil {
			return last, said
		}
		last = tick
		conn := s.login()
		tick, said = s.draw(conn)
		_ = conn.Close(server.Within(s.t))
		if said != nil {
			return last, said
		}
		if last = tick; enough(last) {
			return last, nil
		}
		<-s.pace.C
	}
}

func never(int64) bool { return false }

// mark is that of the worker's row.
func (s *scene) mark(conn *pgx.Conn) int64 {
	s.t.Helper()
	return server.Value[int64](s.t, conn, "SELECT reserved_until FROM pgflurry.worker WHERE node = 'door'")
}

// grown goes on until the window has its length, and then for up to half of it, by chance.
func (s *scene) grown(conn *pgx.Conn) {
	s.t.Helper()
	full := s.window.Milliseconds() * 9 / 10
	_, said := s.goOn(func(tick int64) bool { return s.mark(conn)-tick > full })
	if said == nil {
		until := s.must(s.conn) + rand.Int64N(s.window.Milliseconds()/2)
		_, said = s.goOn(func(tick int64) bool { return tick > until })
	}
	if said != nil {
		s.t.Fatalf("no ID while PostgreSQL is there: %v", said)
	}
}

// least is what is left of a window at any moment, in ticks: all but a third or 20 s of it, a tenth more by chance, and
// what a busy machine takes.
func (s *scene) least() int64 {
	return (s.window - min(s.window/3, 20*time.Second)*11/10 - time.Second).Milliseconds()
}

func TestWhilePostgreSQLIsAwayLoginsAndIDsGoOnToTheMarkAndComeBackWithIt(t *testing.T) {
	ways := map[string]func(s *scene) (back func()){
		"stopped": func(s *scene) func() {
			server.Stop(s.t, s.cluster)
			return func() { s.cluster = server.Again(s.t, s.cluster.Data, s.cluster.Port) }
		},
		"hung": func(s *scene) func() { return server.Freeze(s.t, s.cluster) },
		"cut off, packets dropped": func(s *scene) func() {
			s.link.Silence()
			return s.link.Heal
		},
		"cut off, connections refused": func(s *scene) func() {
			address := server.Parse(s.t, s.direct).Host
			s.link.Lead("")
			return func() { s.link.Lead(address) }
		},
	}
	for name, goAway := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, window(t))
			conn := server.Connect(t, s.direct)
			s.grown(conn)
			before := s.must(s.conn)
			mark := s.mark(conn)
			_ = conn.Close(server.Within(t))
			if left := mark - before; left < s.least() || left > s.window.Milliseconds() {
				t.Errorf("%d ticks were left when PostgreSQL went away, expected %d to %d", left, s.least(),
					s.window.Milliseconds())
			}
			back := goAway(s)
			after := s.must(s.conn)

			last, said := s.goOn(never)
			const slow = 2000 // ticks between two draws on a machine that does something else as well
			if last < mark-slow || last >= after+s.window.Milliseconds() {
				t.Errorf("the last ID is of tick %d; the mark was %d, and PostgreSQL was away by %d", last, mark, after)
			}
			if strings.HasPrefix(name, "cut off") { // the test still reaches the row
				conn := server.Connect(t, s.direct)
				if exactly := s.mark(conn); last >= exactly || last < exactly-slow {
					t.Errorf("the last ID is of tick %d, the mark is %d", last, exactly)
				}
			}
			if !strings.Contains(said.Message, "has ended at 20") || said.Hint == "" {
				t.Errorf("a draw after the mark says %q, with the hint %q", said.Message, said.Hint)
			}
			without := s.login()
			defer without.Close(context.Background())
			for _, session := range []*pgx.Conn{s.conn, without} {
				if one := server.Value[int](t, session, "SELECT 1"); one != 1 {
					t.Errorf("SELECT 1 is %d", one)
				}
			}

			back()
			for next := int64(0); next == 0; {
				if next, said = s.draw(without); said == nil && next <= last {
					t.Errorf("after PostgreSQL is back an ID of tick %d, after one of %d", next, last)
				}
				<-s.pace.C
			}
			s.must(s.conn)
			again := s.login()
			defer again.Close(context.Background())
			s.must(again)
		})
	}
}

func TestARestartOfPostgreSQLIsNotNoticedByIDSessions(t *testing.T) {
	t.Parallel()
	s := newScene(t, window(t))
	conn := server.Connect(t, s.direct)
	s.grown(conn)
	for round := range 2 {
		_ = conn.Close(server.Within(t))
		went := make(chan *postgres.Cluster)
		go func() {
			defer close(went) // also where it fails
			if round == 0 {
				server.Stop(t, s.cluster)
			} else {
				server.Crash(t, s.cluster)
			}
			went <- server.Again(t, s.cluster.Data, s.cluster.Port)
		}()
		draws, restarted := 0, false
		_, said := s.goOn(func(int64) bool {
			draws++
			select {
			case cluster, ok := <-went:
				if restarted = true; ok {
					s.cluster = cluster
				}
			default:
			}
			return restarted
		})
		if said != nil {
			t.Fatalf("no ID in the middle of a restart, after %d: %v", draws, said)
		}
		conn = server.Connect(t, s.direct)
		old := s.mark(conn)
		if _, said := s.goOn(func(int64) bool { return s.mark(conn) > old }); said != nil {
			t.Fatalf("no ID before the lease was renewed after a restart: %v", said)
		}
	}
}
