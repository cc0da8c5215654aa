package regions

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/machines"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// A site is a machine with everything of one region: server, proxies, and the program.
type site struct {
	t        *testing.T
	m        *machines.Machine
	pgflurry string // path on its disk
	local    string // URL of the database on the machine itself
	bin      string // PostgreSQL's programs
	proxies  []*machines.Process
}

// succeeded is the last line of a program that exited with 0.
const succeeded = "it has succeeded\n"

// try runs a program on the machine to its end. It returns the output, and whether the program succeeded.
func (s *site) try(as, name string, args ...string) (printed string, well bool) {
	s.t.Helper()
	p := s.m.Start(s.t, machines.Command{
		Name: "sh", Args: append([]string{"-c", `"$@" && echo it has succeeded`, "sh", name}, args...), As: as,
		Dir: s.m.Disk(),
	})
	<-p.Exited()
	return strings.CutSuffix(p.Log(), succeeded)
}

// run is try for a program that must succeed.
func (s *site) run(as, name string, args ...string) string {
	s.t.Helper()
	printed, well := s.try(as, name, args...)
	if !well {
		s.t.Fatalf("%s: %s %s:\n%s", s.m.Name(), name, strings.Join(args, " "), printed)
	}
	return printed
}

// newSite starts PostgreSQL on a machine.
func newSite(t *testing.T, m *machines.Machine) *site {
	t.Helper()
	s := &site{
		t: t, m: m, pgflurry: filepath.Join(m.Disk(), "pgflurry"), bin: filepath.Dir(server.Tool(t, "initdb")),
		local: "postgres://postgres@127.0.0.1/shop",
	}
	copyProgram(t, program.Path(t), s.pgflurry)
	data := filepath.Join(m.Disk(), "data")
	s.run("postgres", filepath.Join(s.bin, "initdb"), "-D", data, "-A", "trust", "-N")
	hba := filepath.Join(data, "pg_hba.conf")
	file, err := os.OpenFile(hba, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(file, "host all all 10.93.0.0/24 trust")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s.run("postgres", filepath.Join(s.bin, "pg_ctl"), "-D", data, "-w", "-l", filepath.Join(m.Disk(), "log"), "-o",
		"-c listen_addresses=* -c unix_socket_directories= -c fsync=off", "start")
	s.run("postgres", filepath.Join(s.bin, "createdb"), "-h", "127.0.0.1", "shop")
	return s
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	read, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	write, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(write, read); err == nil {
		err = write.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// becomes migrates the database to the region of the flags, and returns the fingerprint.
func (s *site) becomes(command ...string) string {
	s.t.Helper()
	s.run("", s.pgflurry, append(command, "--database", s.local)...)
	var shown struct{ Fingerprint string }
	text := s.run("", s.pgflurry, "namespace", "show", "--json", "--database", s.local)
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		s.t.Fatalf("show: %v in %s", err, text)
	}
	return shown.Fingerprint
}

// serve starts a proxy on a port of the machine and waits until it has a worker.
func (s *site) serve(port int) {
	s.t.Helper()
	p := s.m.Start(s.t, machines.Command{Name: s.pgflurry, Args: []string{
		"serve", "--listen", fmt.Sprintf("%s:%d", s.m.Address(), port), "--upstream", "127.0.0.1:5432",
		"--lease-database", s.local, "--node", fmt.Sprintf("%s-%d", s.m.Name(), port),
	}})
	s.proxies = append(s.proxies, p)
	ctx := server.Within(s.t)
	for !strings.Contains(p.Log(), "worker acquired") {
		if ctx.Err() != nil || !p.Running() {
			s.t.Fatalf("a proxy of %s gets no worker: %s", s.m.Name(), p.Log())
		}
		server.Pause(ctx, 10*time.Millisecond)
	}
}

// url returns the URL by which the tests reach a port of the machine.
func (s *site) url(port int) string {
	return fmt.Sprintf("postgres://postgres@%s:%d/shop?sslmode=disable", s.m.Address(), port)
}

// alone expects that no packet gets from this site to the other.
func (s *site) alone(other *site) {
	s.t.Helper()
	said, well := s.try("", filepath.Join(s.bin, "psql"), "-c", "SELECT 1",
		fmt.Sprintf("host=%s user=postgres dbname=postgres connect_timeout=2", other.m.Name()))
	if well || !strings.Contains(said, "timeout expired") {
		s.t.Errorf("%s reaches %s: %s", s.m.Name(), other.m.Name(), said)
	}
}

// ordinary and whole are the total numbers of IDs, for an ordinary run and for a whole one.
const (
	ordinary = 1_000_000
	whole    = 10_000_000
	atOnce   = 10_000 // the most that a proxy answers at once
)

func TestTwoRegionsThatAreCutApartGiveNoIDTwice(t *testing.T) {
	t.Parallel()
	w := machines.New(t, "east", "west")
	w.Part([]string{"east"}, []string{"west"}) // before anything runs there, and to the end of the test
	east, west := newSite(t, w.Machine("east")), newSite(t, w.Machine("west"))
	fingerprint := east.becomes("migrate", "up", "--layout", "datacenter", "--region", "3")
	if again := west.becomes("namespace", "join", "--region", "4", "--namespace", fingerprint); again != fingerprint {
		t.Fatalf("the fingerprint is %s in the west and %s in the east", again, fingerprint)
	}
	east.alone(west)
	west.alone(east)
	total := ordinary
	if os.Getenv("PGFLURRY_TEST_HA") != "" {
		total = whole
	}
	ids := recorder.New("", 0)
	began := time.Now()
	var mu sync.Mutex
	workers := map[int]int{} // number of IDs of each
	var drawing sync.WaitGroup
	const sources = 6 // in each region the function and two proxies
	for _, s := range []*site{east, west} {
		s.serve(6432)
		s.serve(6433)
		for _, port := range []int{5432, 6432, 6433} {
			drawing.Go(func() {
				counts, err := draw(s.url(port), ids, total/sources+atOnce)
				mu.Lock()
				defer mu.Unlock()
				for worker, n := range counts {
					workers[worker] += n
				}
				if err != nil {
					t.Errorf("%s, port %d: %v", s.m.Name(), port, err)
				}
			})
		}
	}
	drawing.Wait()
	if len(workers) != sources {
		t.Errorf("IDs of the workers %v; expected %d", workers, sources)
	}
	for worker := range workers {
		if region := worker >> 5; region != 3 && region != 4 {
			t.Errorf("worker %d is of region %d", worker, region)
		}
	}
	if ids.Len() < int64(total) {
		t.Errorf("%d IDs were drawn, expected %d", ids.Len(), total)
	}
	east.alone(west)
	west.alone(east)
	if c := check(t, east.url(5432), west.url(5432)); !c.MayCoexist {
		t.Errorf("check says %+v", c)
	}
	t.Logf("%d IDs in %v, none twice: %v", ids.Len(), time.Since(began).Round(time.Millisecond), workers)
}

// draw draws n IDs and compares each with all others. It returns the number of IDs for each worker.
func draw(url string, ids *recorder.Recorder, n int) (map[int]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	workers := map[int]int{}
	for drawn := 0; drawn < n; drawn += atOnce {
		rows, err := conn.Query(ctx, fmt.Sprintf("SELECT * FROM next_snowflakes(%d)", atOnce))
		if err != nil {
			return workers, err
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return workers, err
		}
		if err := ids.Add(got...); err != nil {
			return workers, err
		}
		for _, id := range got {
			workers[int(id>>12&1023)]++
		}
	}
	return workers, nil
}
