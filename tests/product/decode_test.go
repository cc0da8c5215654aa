package product

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// decodeIDs runs "pgflurry decode".
func decodeIDs(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Path(t), append([]string{"decode"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func TestDecodeAgreesWithTheFunctionsInTheDatabase(t *testing.T) {
	url := server.MigratedWith(t, migrations.Settings{
		Layout: "40/3/4/9", Unit: 3 * time.Millisecond,
		Epoch: time.Date(2025, 2, 28, 23, 59, 58, 987_000_000, time.UTC),
	})
	conn := server.Connect(t, url)
	type parts struct {
		ID               string
		Time             time.Time
		Datacenter       *int
		Worker, Sequence int
	}
	var want []parts
	var ids []string
	// not the function's own: other workers, and another tick
	for _, offset := range []int64{0, 1, 91<<9 + 17, 1 << 16} {
		var p parts
		err := conn.QueryRow(t.Context(), `SELECT id::text, snowflake_time(id), snowflake_worker(id),
			snowflake_sequence(id)
			FROM (SELECT next_snowflake() + $1) AS drawn(id)`, offset).Scan(&p.ID, &p.Time, &p.Worker, &p.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		want, ids = append(want, p), append(ids, p.ID)
	}
	out, errs, code := decodeIDs(t, strings.Join(ids, "\n"), "-", "--json", "--database", url)
	var got []parts
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	if len(got) != len(want) {
		t.Fatalf("%d IDs, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.ID != w.ID || !g.Time.Equal(w.Time) || g.Worker != w.Worker || g.Sequence != w.Sequence ||
			g.Datacenter == nil || *g.Datacenter != w.Worker>>4 {
			t.Errorf("got %+v, the database says %+v", g, w)
		}
	}
}

func TestDecodeWithoutANamespaceSaysWhatToRun(t *testing.T) {
	out, errs, code := decodeIDs(t, "", "1", "--database", server.Database(t))
	if code != 3 || out != "" || !strings.Contains(errs, "has no pgflurry namespace") ||
		!strings.Contains(errs, "migrate up") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

func TestDecodeExitsWithOneWhenAnIDWasBad(t *testing.T) {
	out, errs, code := decodeIDs(t, "", "nonsense", "330678927360028672")
	if code != 1 || !strings.Contains(out, "330678927360028672  2026-07-01T12:00:00.000Z") ||
		!strings.Contains(errs, `"nonsense" is not an ID`) || !strings.Contains(errs, "1 of 2") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}
