package regions

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { enter(); server.Main(m) }

// number returns a region for migrations.Settings.
func number(n int) *int { return &n }

// founded makes a new ID space with this region. The fingerprint is for the other regions.
func founded(t testing.TB, region int) (url string, space *namespace.Fingerprint) {
	t.Helper()
	url = server.MigratedWith(t, migrations.Settings{Layout: "datacenter", Region: &region})
	seen := seenAt(t, url)
	space = new(seen.Fingerprint())
	return url, space
}

// further adds another region to an ID space.
func further(t testing.TB, space *namespace.Fingerprint, region int) (url string) {
	t.Helper()
	return server.MigratedWith(t, migrations.Settings{Region: &region, Space: space})
}

func seenAt(t testing.TB, url string) namespace.Seen {
	t.Helper()
	seen, err := namespace.Look(server.Within(t), server.Connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// up migrates a database, which must succeed.
func up(t testing.TB, url string, settings migrations.Settings) {
	t.Helper()
	if err := migrations.Up(server.Within(t), url, settings); err != nil {
		t.Fatalf("up: %v (%s)", err, server.Hint(err))
	}
}

// run runs the product, and returns its exit code and what it printed.
func run(t testing.TB, args ...string) (code int, out, errs string) {
	t.Helper()
	command := exec.CommandContext(server.Within(t), program.Path(t), args...)
	var printed, complained strings.Builder
	command.Stdout, command.Stderr = &printed, &complained
	_ = command.Run() // its state has the exit code
	return command.ProcessState.ExitCode(), printed.String(), complained.String()
}

// checked is the JSON of "namespace check --json".
type checked struct {
	MayCoexist bool             `json:"may_coexist"`
	Databases  []map[string]any `json:"databases"`
	Collisions []struct {
		Databases []int `json:"databases"`
		Workers   *struct{ From, To int }
		Why, Hint string
	} `json:"collisions"`
	Notes []string
}

// check runs "namespace check" and expects the exit code that fits its answer.
func check(t testing.TB, urls ...string) checked {
	t.Helper()
	code, out, errs := run(t, append([]string{"namespace", "check", "--json"}, urls...)...)
	var c checked
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("check: %v in %s%s", err, out, errs)
	}
	if want := map[bool]int{true: 0, false: 3}[c.MayCoexist]; code != want {
		t.Errorf("check ends with exit code %d, and says %+v", code, c)
	}
	if c.MayCoexist != (len(c.Collisions) == 0) || len(c.Databases) != len(urls) {
		t.Errorf("check contradicts itself: %s", out)
	}
	return c
}
