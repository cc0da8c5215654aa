package serve

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// steered starts a proxy whose clocks the test sets.
func steered(t testing.TB, direct, node string) (*program.Steered, *program.Proxy) {
	t.Helper()
	s := program.StartSteered(t, program.ServeArgs(t, direct, node)...)
	p := s.Proxy(direct)
	p.Leased()
	return s, p
}

// offBy returns the distance of the time in an ID from the server's clock. The ID has the default layout and epoch.
func offBy(t testing.TB, conn *pgx.Conn, id int64) time.Duration {
	t.Helper()
	var off time.Duration
	err := conn.QueryRow(context.Background(), "SELECT snowflake_time($1) - clock_timestamp()", id).Scan(&off)
	if err != nil {
		t.Fatal(err)
	}
	return off
}

// logTime returns the wall clock's time at the start of a line of the log.
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
	t.Parallel()
	direct := server.Migrated(t)
	conn := server.Connect(t, direct)
	all := newSeen(t)
	for _, off := range []string{"10m", "-10m"} {
		s, p := steered(t, direct, "wrong clock")
		through := server.Connect(t, p.URL)
		all.add("before", mustDraw(t, through))
		s.Steer("wall=" + off)
		want, _ := time.ParseDuration(off)
		if wall := time.Until(logTime(t, s.Line("the clock is steered"))); wall < want-time.Minute ||
			wall > want+time.Minute {
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
	t.Parallel()
	direct := server.Migrated(t)
	s := program.StartReleasedAsIfSteered(t, "wall=10m monotonic=10m rate=100",
		program.ServeArgs(t, direct, "released")...)
	p := s.Proxy(direct)
	p.Leased()
	if wall := time.Until(logTime(t, s.Line("worker acquired"))); wall > time.Minute {
		t.Errorf("the wall clock of a released program is %v ahead", wall)
	}
	if in := offBy(t, server.Connect(t, direct), mustDraw(t, server.Connect(t, p.URL))); in > 5*time.Second {
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
