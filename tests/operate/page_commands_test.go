//go:build full

package operate

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/admin"
	"pgflurry/internal/report"
	"pgflurry/tests/support/program"
)

// wrong returns states that together show every warning.
func wrong(now time.Time) []report.State {
	held := report.Lease{Held: true, Granted: true, Worker: 7, Window: time.Minute, Renewed: now.Add(-time.Minute)}
	states := []report.State{{
		At: now, Lease: held,
		Clock:        report.Clock{Known: true, Slowed: true, Ahead: time.Second},
		Workers:      report.Workers{Read: now, Opens: now.Add(time.Minute), FunctionAhead: time.Minute},
		Databases:    []report.Database{{Name: "shop", IDs: "none"}},
		Certificates: []report.Certificate{{File: "a.crt", Until: now}},
		Namespace:    report.Namespace{End: now},
		Sessions:     report.Sessions{Full: true, Limit: 10},
		IDDatabase: report.IDDatabase{
			Name: "ids", Full: true, Limit: 10, Hides: "shop",
			Accounts: report.Accounts{Needed: true, Problem: "it is not there", From: "pgflurry.client"},
		},
	}, {At: now, Lease: held, Clock: report.Clock{Known: true, Ahead: time.Hour}}}
	for _, reason := range []string{"gate", "none_free", "copy", "no_namespace", "unanswered", "lost"} {
		states = append(states, report.State{At: now, Lease: report.Lease{Reason: reason, Worker: 7}})
	}
	return states
}

func TestEachCommandOfAWarningIsOneThatTheProgramTakes(t *testing.T) {
	t.Parallel()
	kinds, tried := map[string]bool{}, map[string]bool{}
	for _, state := range wrong(time.Now()) {
		for _, w := range admin.Warnings(state) {
			kinds[w.Kind] = true
			for _, command := range w.Commands {
				words := strings.Fields(command)
				if words[0] != "pgflurry" || tried[command] {
					continue
				}
				tried[command] = true
				// --help checks the command and its flags, and changes nothing: an unknown flag is an error.
				out, err := exec.Command(program.Path(t), append(words[1:], "--help")...).CombinedOutput()
				leaf := words[2]
				if words[1] == "serve" {
					leaf = "serve"
				}
				if usage := "pgflurry " + strings.Join(words[1:3], " "); err != nil ||
					leaf != "serve" && !strings.Contains(string(out), usage) {
					t.Errorf("%s: %v\n%.400s", command, err, out)
				}
			}
		}
	}
	if len(kinds) != 15 || len(tried) < 10 {
		t.Errorf("only the warnings %v were tried, with %d commands", kinds, len(tried))
	}
}
