package tests

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgflurry/bench/report"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// refused runs a command that must fail before anything starts, with this exit code and these words.
func refused(t *testing.T, args []string, code int, wants ...string) {
	t.Helper()
	said, err := exec.Command(binary, args...).CombinedOutput()
	ended, is := errors.AsType[*exec.ExitError](err)
	if !is || ended.ExitCode() != code || strings.Contains(string(said), "starting") ||
		strings.Contains(string(said), "round 1") {
		t.Errorf("%v: error %v; expected exit code %d before anything starts; said %s", args, err, code, said)
	}
	for _, want := range wants {
		if !strings.Contains(string(said), want) {
			t.Errorf("%v does not say %q: %s", args, want, said)
		}
	}
}

func TestAQuickLookGivesATableASentenceAndAChartOfAtMostAHundredColumns(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	said := measured(t, command(t, out, "run", "--quick", "--rounds", "2"))
	r := read(t, out)
	sources := []string{
		"next_snowflake, proxy", "next_snowflake, function in the database", report.Nextval, "UUID v7", report.Redis,
	}
	if len(r.NotRun) > 0 {
		if os.Getenv("PGFLURRY_TEST_REDIS") == "1" {
			t.Fatalf("not run: %v", r.NotRun)
		}
		sources = sources[:4]
	}
	if len(r.Figures) != 2*len(sources) || !r.Quick || r.Summary == "" {
		t.Errorf("%d figures, quick %v, %q; expected %d", len(r.Figures), r.Quick, r.Summary, len(sources))
	}
	answer, _, _ := strings.Cut(said, "\nwritten: ")
	_, answer, found := strings.Cut(answer, "8 clients:\n")
	table, chart, drawn := strings.Cut(answer, "\nIDs a second:\n")
	for _, source := range sources {
		if !strings.Contains(table, "\n"+source+" ") || !strings.Contains(chart, source+" ") {
			t.Errorf("%q is not in the table, or not in the chart", source)
		}
	}
	sentence := strings.Join(strings.Fields(table), " ")
	if !found || !drawn || !strings.Contains(chart, "█") || !strings.Contains(sentence, r.Summary) {
		t.Errorf("no table, no sentence or no chart:\n%s", said)
	}
	for line := range strings.Lines(answer) {
		if utf8.RuneCountInString(line) > 101 || strings.ContainsAny(line, "\x1b\r\t") {
			t.Errorf("this line is wider than 100 columns, or not plain: %q", line)
		}
	}
}

func TestCtrlCWritesWhatIsFinishedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	p := program.StartCommand(t, command(t, out, "run", "--quick", "--rounds", "500"))
	p.Line("round 2 of 500")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 {
		t.Errorf("exit code %d; expected 1", code)
	}
	said, r := p.Output(), read(t, out)
	if !strings.Contains(said, "Incomplete: ") || !strings.Contains(said, "\nnextval ") ||
		!strings.Contains(strings.Join(strings.Fields(said), " "), r.Summary) || !strings.Contains(said, " ███") {
		t.Errorf("the table, the sentence or the chart is missing:\n%s", said)
	}
	if len(r.Figures) < 8 || len(r.Samples) < len(r.Figures) || !strings.Contains(r.Incomplete, "turns") {
		t.Errorf("%d figures, %d samples, incomplete %q; expected a round of each",
			len(r.Figures), len(r.Samples), r.Incomplete)
	}
	if data := strings.TrimPrefix(p.Line("data in "), "data in "); data != "" {
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Errorf("the servers' folder %s is left (%v)", data, err)
		}
	}
}

func TestAServerThatTakesNobodyInIsNamedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts no connection
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	refused(t, []string{"run", "--quick", "--postgres", "postgres://me:secret@" + silent.Addr().String() + "/app"}, 4,
		"--postgres postgres:…@"+silent.Addr().String()+"/app has not let a client in within ",
		"hint: Is the address right")
}

func TestWhatIsNotTheProxyThatItIsSaidToBeIsRefusedBeforeAnythingIsMade(t *testing.T) {
	direct := server.Migrated(t)
	pooler := server.Pooler(t, direct, 5)
	common := []string{"run", "--quick", "--postgres", direct}
	refused(t, append(common, "--proxy", direct), 2, "is PostgreSQL itself", "hint: Give --proxy the address")
	refused(t, append(common, "--proxy", pooler), 3, "does not answer next_snowflake() itself", "hint: It is a pooler")
	refused(t, append(common, "--proxy", "postgres://nobody@127.0.0.1:1/x"), 4, "--proxy cannot be asked")
	refused(t, append(common, "--id-database", direct), 2, "it has run one", "hint: Name the database")
	if server.Value[bool](t, server.Connect(t, direct), "SELECT to_regnamespace('pgflurry_bench') IS NOT NULL") {
		t.Error("the schema pgflurry_bench was made")
	}
}
