package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// diagnosis is what "doctor --json" prints.
type diagnosis struct {
	Worst, Line      string
	Provider         *string
	Checks, Promises []struct{ Check, Found, Verdict, Advice string }
}

// verdict is the verdict of a check, and what was found.
func (d diagnosis) verdict(t *testing.T, check string) (verdict, found string) {
	t.Helper()
	for _, c := range append(d.Checks, d.Promises...) {
		if c.Check == check {
			return c.Verdict, c.Found
		}
	}
	t.Fatalf("there is no check %q: %+v", check, d)
	return "", ""
}

// expect checks the verdict of a check, and that what was found has the text.
func (d diagnosis) expect(t *testing.T, check, verdict, text string) {
	t.Helper()
	if got, found := d.verdict(t, check); got != verdict || !strings.Contains(found, text) {
		t.Errorf("%s: %s, %q; expected %s, %q", check, got, found, verdict, text)
	}
}

// diagnosed runs doctor, and expects an exit code.
func diagnosed(t *testing.T, code int, args ...string) (d diagnosis) {
	t.Helper()
	got := run(t, append([]string{"doctor", "--json", "--database"}, args...)...)
	got.is(t, code)
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatalf("%v: %s%s", err, got.out, got.errs)
	}
	return d
}

// durable are the options of a server that keeps what it has acknowledged.
var durable = map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}

func TestDoctorInvariant1ItOnlyReadsBeforeAndAfterTheMigration(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, durable)
	url := cluster.URL("postgres")
	conn := server.Connect(t, url)
	const objects = "SELECT count(*) FROM pg_class UNION ALL SELECT count(*) FROM pg_proc"
	before := server.Values[int64](t, conn, objects)
	d := diagnosed(t, 0, url)
	d.expect(t, "version", "ok", "PostgreSQL ")
	d.expect(t, "database", "ok", "not migrated")
	d.expect(t, "lease role's rights", "not known", "not there yet")
	d.expect(t, "owner's rights", "ok", "migrate up")
	d.expect(t, "WAL timeline", "ok", "00000001")
	d.expect(t, "durability", "ok", "fsync on")
	d.expect(t, "unlogged sequences", "not known", "one look")
	d.expect(t, "clock", "ok", " s from this machine's")
	if after := server.Values[int64](t, conn, objects); after[0] != before[0] || after[1] != before[1] {
		t.Errorf("doctor has made or dropped objects: %v, %v before", after, before)
	}
	if _, err := conn.Exec(server.Within(t), "SELECT 'public.pgflurry_doctor'::regclass"); err == nil {
		t.Error("doctor has made its marker without --before")
	}
	server.Migrate(t, url, migrations.Settings{})
	d = diagnosed(t, 0, url)
	d.expect(t, "database", "ok", "migrated, the original")
	d.expect(t, "lease role's rights", "ok", "may lease")
	if strings.Contains(d.Line, "127.0.0.1") || !strings.Contains(d.Line, "PostgreSQL") {
		t.Errorf("the line for an issue: %s", d.Line)
	}
	table := run(t, "doctor", "--database", url)
	table.is(t, 0)
	if !strings.Contains(table.out, "WHAT TO DO") || !strings.Contains(table.out, d.Line) {
		t.Errorf("the table:\n%s", table.out)
	}
}

func TestDoctorInvariant2ItNamesWhatARoleLacks(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	stranger := server.Role(t, url, "doctor_stranger")
	d := diagnosed(t, 3, stranger) // the server of tests has fsync off
	d.expect(t, "durability", "fails", "fsync off")
	d.expect(t, "owner's rights", "warning", "doctor_stranger")
	d.expect(t, "lease role's rights", "warning", "UPDATE on pgflurry.leasable_worker")
	lessee := server.Role(t, url, "doctor_lessee")
	server.Exec(t, url, "CALL pgflurry.grant_lease('doctor_lessee')")
	d = diagnosed(t, 3, lessee)
	d.expect(t, "lease role's rights", "ok", "doctor_lessee")
	d.expect(t, "owner's rights", "warning", "is not a member")
}

// restarted runs doctor before and after an accident, which returns the server's new URL.
func restarted(t *testing.T, url string, accident func() string) diagnosis {
	t.Helper()
	file := filepath.Join(t.TempDir(), "look.json")
	d := diagnosed(t, 0, url, "--before", file)
	d.expect(t, "marker", "ok", "public.pgflurry_doctor")
	run(t, "doctor", "--database", url, "--before", file).is(t, 2, "exists already")
	return diagnosed(t, 0, accident(), "--after", file)
}

// backendCrash kills a backend, as the kernel does when memory runs out, and waits for the server.
func backendCrash(t *testing.T, cluster *postgres.Cluster) string {
	t.Helper()
	url := cluster.URL("postgres")
	victim, witness := server.Connect(t, url), server.Connect(t, url)
	if err := syscall.Kill(int(victim.PgConn().PID()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for ctx := server.Within(t); ; { // until the server has noticed
		if _, err := witness.Exec(ctx, "SELECT pg_sleep(60)"); err != nil {
			break
		}
	}
	for ctx := server.Within(t); ; {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			_ = conn.Close(ctx)
			return url
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestDoctorTellsACrashFromACleanRestart(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, durable)
	url := cluster.URL("postgres")
	d := restarted(t, url, func() string { return url })
	d.expect(t, "what happened", "not known", "no restart")
	d.expect(t, "unlogged sequences after", "not known", "without a restart")

	d = restarted(t, url, func() string { return backendCrash(t, cluster) })
	d.expect(t, "what happened", "ok", "a crash or a failover")
	d.expect(t, "unlogged sequences after", "ok", "started over")
	if !strings.Contains(d.Line, "started over") {
		t.Errorf("the line does not say so: %s", d.Line)
	}

	d = restarted(t, url, func() string {
		server.Stop(t, cluster)
		cluster = server.Again(t, cluster.Data, cluster.Port, durable)
		return cluster.URL("postgres")
	})
	d.expect(t, "what happened", "ok", "a clean restart")
	d.expect(t, "unlogged sequences after", "ok", "kept through a clean restart")
	gone := server.Value[bool](t, server.Connect(t, cluster.URL("postgres")),
		"SELECT to_regclass('public.pgflurry_doctor') IS NULL")
	if !gone {
		t.Error("--after has left the marker")
	}
}

func TestDoctorSeesASequenceThatSurvivesACrashAndALostWrite(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, durable)
	url := cluster.URL("postgres")
	d := restarted(t, url, func() string {
		server.Exec(t, url, "ALTER SEQUENCE public.pgflurry_doctor SET LOGGED") // as on a server that keeps it
		return backendCrash(t, cluster)
	})
	d.expect(t, "unlogged sequences after", "warning", "kept through a crash")

	file := filepath.Join(t.TempDir(), "look.json")
	diagnosed(t, 0, url, "--before", file)
	server.Exec(t, url, "DROP SEQUENCE public.pgflurry_doctor") // as if the server had forgotten it
	d = diagnosed(t, 3, backendCrash(t, cluster), "--after", file)
	d.expect(t, "unlogged sequences after", "fails", "the marker is gone")
	d.expect(t, "promise: no ID twice after a restart or crash", "fails", "")
}

func TestDoctorRefusesAFileThatIsNoLook(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "look.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "doctor", "--database", "postgres://nobody@127.0.0.1:1/none", "--after", file).is(t, 2, "has no look")
	run(t, "doctor", "--database", "postgres://nobody@127.0.0.1:1/none").is(t, 4)
}
