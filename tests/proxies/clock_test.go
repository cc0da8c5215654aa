package proxies

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/program"
	"pgflurry/tests/server"
)

// steeredArgs are those of a proxy in front of the database of direct.
func steeredArgs(t testing.TB, direct, node string) []string {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"serve", "--listen", "127.0.0.1:0", "--upstream", u.Host, "--lease-database", direct, "--node", node}
}

// asProxy waits until the program answers from memory.
func asProxy(t testing.TB, s *program.Steered, direct string) *proxy {
	t.Helper()
	p := &proxy{Process: s.Process, t: t}
	_, address, _ := strings.Cut(p.Line("msg=listening"), "address=")
	p.address, _, _ = strings.Cut(address, " ")
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.address
	p.url = u.String()
	p.Line("worker acquired")
	p.answersLocally()
	return p
}

// offBy says how far the time in an ID is from the server's clock; the default layout's epoch is 2024.
func offBy(t testing.TB, conn *pgx.Conn, id int64) time.Duration {
	t.Helper()
	var off time.Duration
	if err := conn.QueryRow(context.Background(), "SELECT snowflake_time($1) - clock_timestamp()", id).Scan(&off); err != nil {
		t.Fatal(err)
	}
	return off
}

// logTime is the wall clock's time in the line that says so much.
func logTime(t testing.TB, line string) time.Time {
	t.Helper()
	_, text, _ := strings.Cut(line, "time=")
	text, _, _ = strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatalf("no time in %q: %v", line, err)
	}
	return at
}

func TestAWallClockThatIsTenMinutesOffChangesNothingInIDs(t *testing.T) {
	direct := server.Migrated(t)
	conn := server.Connect(t, direct)
	all := newSeen(t)
	for _, off := range []string{"10m", "-10m"} {
		s := program.StartSteered(t, steeredArgs(t, direct, "wrong clock")...)
		p := asProxy(t, s, direct)
		through := server.Connect(t, p.url)
		all.add("before", mustDraw(t, through))
		s.Steer("wall=" + off)
		want, _ := time.ParseDuration(off)
		if wall := time.Until(logTime(t, s.Line("the clock is steered"))); wall < want-time.Minute || wall > want+time.Minute {
			t.Fatalf("the program's wall clock is %v off, expected %v: the steering does not work", wall, want)
		}
		for range 1000 {
			id := mustDraw(t, through)
			all.add(off, id)
			if workerOf(id) == databaseWorker {
				t.Fatal("the proxy has stopped answering")
			}
		}
		if in := offBy(t, conn, mustDraw(t, through)); in > 5*time.Second || in < -5*time.Second {
			t.Errorf("with the wall clock %s off, IDs are %v off", off, in)
		}
	}
}

func TestAReleasedProgramIgnoresWhatSteersTheClockOfATestBuild(t *testing.T) {
	direct := server.Migrated(t)
	s := program.StartReleasedAsIfSteered(t, "wall=10m monotonic=10m rate=100", steeredArgs(t, direct, "released")...)
	p := asProxy(t, s, direct)
	if wall := time.Until(logTime(t, s.Line("worker acquired"))); wall > time.Minute {
		t.Errorf("the wall clock of a released program is %v ahead", wall)
	}
	if in := offBy(t, server.Connect(t, direct), mustDraw(t, server.Connect(t, p.url))); in > 5*time.Second {
		t.Errorf("its IDs are %v ahead", in)
	}
	binary, err := os.ReadFile(program.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(binary, []byte("STEER_CLOCK")) {
		t.Error("the released program knows the name of the variable")
	}
}
