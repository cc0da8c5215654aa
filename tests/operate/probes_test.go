//go:build full

package operate

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// health runs "pgflurry health" against the proxy's admin listener.
func (o *operated) health(flag string) (code int, said string) {
	o.t.Helper()
	cmd := exec.Command(program.Path(o.t), "health", flag)
	cmd.Env = append(cmd.Environ(), "PGFLURRY_ADMIN_LISTEN="+o.admin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		o.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestWhilePostgreSQLIsSilentProbesAnswerAndSayWhatNewClientsMiss(t *testing.T) {
	t.Parallel()
	link, through := network.To(t, server.Migrated(t))
	o := operate(t, through, "probed")
	for _, flag := range []string{"--ready", "--ids"} {
		if code, said := o.health(flag); code != 0 || said != "" {
			t.Errorf("health %s: %d, %s", flag, code, said)
		}
	}
	link.Silence()
	o.shows("that no ID is left", func(of func(string) float64) bool { return of("lease_reserve_seconds") == 0 })
	if status, body := o.get("/livez"); status != http.StatusOK || body != "{\"ok\":true}\n" {
		t.Errorf("/livez: %d %s", status, body)
	}
	if status, body := o.get("/readyz/ids"); status != http.StatusServiceUnavailable ||
		!strings.HasPrefix(body, `{"ok":false,"why":"no IDs from memory, calls go to PostgreSQL: `) {
		t.Errorf("/readyz/ids: %d %s", status, body)
	}
	if code, said := o.health("--ids"); code != 1 || !strings.Contains(said, "no IDs from memory") {
		t.Errorf("health --ids: %d, %s", code, said)
	}
}

func TestReadyzSaysThatAProxyIsFull(t *testing.T) {
	t.Parallel()
	o := operate(t, server.Migrated(t), "full", "--max-connections", "1")
	if status, body := o.get("/readyz"); status != http.StatusOK {
		t.Errorf("with a place left: %d %s", status, body)
	}
	conn := server.Connect(t, o.URL)
	server.Do(t, conn, "SELECT 1")
	status, body := o.get("/readyz")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "limit is 1") {
		t.Errorf("without one: %d %s", status, body)
	}
}

func TestProfilesAreShownOnlyWhereServeWasToldTo(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	with, without := operate(t, direct, "with", "--admin-pprof"), operate(t, direct, "without")
	if status, body := with.get("/debug/pprof/goroutine?debug=1"); status != http.StatusOK ||
		!strings.Contains(body, "goroutine profile") {
		t.Errorf("with --admin-pprof: %d %s", status, body)
	}
	if status, _ := without.get("/debug/pprof/goroutine?debug=1"); status != http.StatusNotFound {
		t.Errorf("without --admin-pprof: %d", status)
	}
}
