//go:build full

package ahead

import (
	_ "embed"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

//go:embed item.sql
var itemSQL string

// databaseWorker is the worker of the function in a database that has not joined another.
const databaseWorker = 0

const idDatabase = "ids"

func worker(id int64) int64 { return id >> 12 & 1023 }

// served is a database behind a proxy that a test may replace, and every ID that clients have seen.
type served struct {
	*program.Proxy
	direct, listen string
	number         int // of proxies so far
	seen           *recorder.Recorder
}

func serve(t *testing.T) *served {
	t.Helper()
	return serveAt(t, server.Migrated(t))
}

// serveAt starts a proxy in front of a migrated database.
func serveAt(t *testing.T, direct string) *served {
	t.Helper()
	s := &served{
		direct: direct,
		listen: net.JoinHostPort("127.0.0.1", strconv.Itoa(server.FreePort(t))),
		seen:   recorder.New("", 64<<20),
	}
	server.Exec(t, s.direct, itemSQL)
	s.start(t)
	return s
}

// start runs the next proxy at the same address.
func (s *served) start(t *testing.T) {
	t.Helper()
	s.number++
	s.Proxy = program.Serve(t, s.direct, "ahead-"+strconv.Itoa(s.number), "--listen", s.listen,
		"--admin-listen", "127.0.0.1:0", "--id-database", idDatabase, "--id-auth", "trust")
}

// replace kills the proxy and runs another.
func (s *served) replace(t *testing.T) {
	t.Helper()
	s.Signal(syscall.SIGKILL)
	s.End()
	s.start(t)
}

// record fails the test if an ID was seen before, or is the function's.
func (s *served) record(t *testing.T, ids ...int64) {
	t.Helper()
	if err := s.seen.Add(ids...); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if worker(id) == databaseWorker {
			t.Fatalf("ID %d is the function's; expected one of the proxy", id)
		}
	}
}

var answers = regexp.MustCompile(`(?m)^pgflurry_(?:id_database_)?answers_total\{kind="snowflakes?"\} (\d+)$`)

// drawn counts the statements that the proxy has answered with IDs, also in its ID database.
func (s *served) drawn(t *testing.T) (n int) {
	t.Helper()
	at := program.Field(s.Line("listening for operators"), "address")
	response, err := http.Get("http://" + at + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := answers.FindAllSubmatch(text, -1)
	if len(found) != 4 {
		t.Fatalf("%d counters of answers in\n%s", len(found), text)
	}
	for _, counter := range found {
		some, err := strconv.Atoi(string(counter[1]))
		if err != nil {
			t.Fatal(err)
		}
		n += some
	}
	return n
}
