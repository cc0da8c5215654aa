package tests

import (
	_ "embed" // the SQL
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

//go:embed sql/things.sql
var thingsSQL string

// startAll starts every installed server that the command run can take. Those that the environment requires must be
// installed.
func startAll(t *testing.T) servers.Servers {
	t.Helper()
	private, err := servers.StartPrivate(t.Context(), servers.PrivateSettings{
		Pgflurry: program.Path(t), Bin: server.Binaries(t).Dir, Say: func(string) {},
	})
	t.Cleanup(func() {
		if err := private.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = private.Start(t.Context(), servers.Needs{Pooler: true, Redis: true, IDDatabase: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]servers.Server{
		report.Redis: private.Redis, "nextval, PgBouncer": private.Pooler,
	} {
		if of.URL == "" && os.Getenv(required[name]) == "1" {
			t.Fatalf("%s asks for %s: %s", required[name], name, of.Missing)
		}
	}
	return private.Servers
}

// things are the names of everything in the servers: tables, sequences and indexes, functions, types, schemas and keys.
func things(t *testing.T, s servers.Servers) (all []string) {
	t.Helper()
	conn := server.Connect(t, s.Postgres.URL)
	rows, err := conn.Query(t.Context(), thingsSQL)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.Redis.URL != "" {
		options, err := redis.ParseURL(s.Redis.URL)
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClient(options)
		defer client.Close()
		keys, err := client.Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			all = append(all, "Redis: "+key)
		}
	}
	slices.Sort(all)
	return all
}

func TestEveryServerThatIsGivenIsMeasuredAndLeftAsItWas(t *testing.T) {
	t.Parallel()
	given := startAll(t)
	before := things(t, given)
	const password = "hunter2"
	var flags []string
	for flag, of := range map[string]servers.Server{
		"--postgres": given.Postgres, "--proxy": given.Proxy, "--pgbouncer": given.Pooler, "--redis": given.Redis,
	} {
		if of.URL != "" {
			flags = append(flags, flag, withPassword(of.URL, password))
		}
	}
	flags = append(flags, "--id-database", withPassword(given.IDDatabase.URL, password))
	short := []string{"run", "--rounds", "1", "--duration", "1s", "--warm-up", "0", "--workloads", "prepared,pipelined"}
	args := append(append(short, "--clients", "2"), flags...)
	out := t.TempDir()
	said, err := exec.Command(binary, append(args, "--out", out)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	measuresAtAQuickLook(t, given, flags)
	for _, what := range things(t, given) {
		if at, found := slices.BinarySearch(before, what); found {
			before = slices.Delete(before, at, at+1)
		} else {
			t.Errorf("%s is left", what)
		}
	}
	if len(before) > 0 {
		t.Errorf("%v was there before and is gone", before)
	}
	r, expected := read(t, out), figuresOf(given)
	if len(r.Figures) != expected || r.Incomplete != "" {
		t.Errorf("%d figures, incomplete: %q, not run: %q; expected %d",
			len(r.Figures), r.Incomplete, r.NotRun, expected)
	}
	if r.Versions["PostgreSQL"] == "" || !strings.HasPrefix(r.Versions["proxy"], "unknown, in front of PostgreSQL") ||
		r.Versions["pgflurry-bench"] == "" || r.Versions["github.com/jackc/pgx/v5"] == "" {
		t.Errorf("versions %v", r.Versions)
	}
	for _, name := range []string{"results.md", "results.json"} {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || strings.Contains(string(content), password) ||
			!strings.Contains(string(content), "--proxy 'postgres:…@") {
			t.Errorf("%s has the password, or not how the servers were given (error %v)", name, err)
		}
	}
	if strings.Contains(string(said), password) {
		t.Error("the password is printed")
	}
}

// measuresAtAQuickLook checks a quick look at given servers: every figure except processor time.
func measuresAtAQuickLook(t *testing.T, given servers.Servers, flags []string) {
	t.Helper()
	look := exec.Command(binary,
		append([]string{"run", "--quick", "--rounds", "1", "--duration", "1s", "--warm-up", "0"}, flags...)...)
	said := measured(t, look)
	wanted := []string{
		"\nnextval ", "\nnext_snowflake, proxy ", "\nnext_snowflake, ID database ", "may be on another machine",
		"one round: a look, not a measurement",
	}
	for name, of := range map[string]servers.Server{
		report.Redis: given.Redis, "nextval, PgBouncer": given.Pooler,
	} {
		if of.URL != "" {
			wanted = append(wanted, "\n"+name)
		}
	}
	words := strings.Join(strings.Fields(said), " ")
	for _, want := range wanted {
		if !strings.Contains(said, want) && !strings.Contains(words, want) {
			t.Errorf("a quick look lacks %q:\n%s", want, said)
		}
	}
}

// withPassword adds a password to a URL of PostgreSQL. These servers do not ask for it. Other addresses stay as they
// are.
func withPassword(target, password string) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "postgres" {
		return target
	}
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String()
}

// figuresOf is the number of figures for these servers.
func figuresOf(s servers.Servers) int {
	n := 15 + 2 // without the least, in C
	for of, figures := range map[string]int{s.Pooler.URL: 1, s.Redis.URL: 2, s.IDDatabase.URL: 2} {
		if of != "" {
			n += figures
		}
	}
	return n
}

func TestAServerThatFailsIsSaidNotToHaveRunAndTheOthersAreMeasured(t *testing.T) {
	direct, elsewhere := server.Migrated(t), server.Database(t) // elsewhere lacks what the source draws from
	out := t.TempDir()
	run := exec.Command(binary, "run", "--postgres", direct, "--pgbouncer", elsewhere, "--clients", "1",
		"--rounds", "2", "--duration", "1s", "--warm-up", "1s", "--workloads", "prepared",
		"--sources", "nextval,nextval-pgbouncer,uuidv4,snowflake-proxy,redis-incr", "--out", out)
	said, err := run.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "1 of 3 trials failed") {
		t.Errorf("error %v, said %s; expected that one of the trials failed", err, said)
	}
	r := read(t, out)
	all := strings.Join(r.NotRun, "\n")
	const missing = `schema "pgflurry_bench" does not exist`
	if !strings.Contains(all, "nextval, PgBouncer: ") || !strings.Contains(all, missing) ||
		!strings.Contains(all, "failed in warm-up") || !strings.Contains(all, "--proxy is not given") ||
		!strings.Contains(all, "--redis is not given") || !strings.Contains(r.Incomplete, "1 of 3") ||
		strings.Count(string(said), missing) != 1 {
		t.Errorf("not run: %q, incomplete: %q, said %s", all, r.Incomplete, said)
	}
	if len(r.Figures) != 2 || len(r.Samples) != 4 {
		t.Errorf("%d figures of %d samples; expected all but the one that failed: 2 of 4",
			len(r.Figures), len(r.Samples))
	}
}
