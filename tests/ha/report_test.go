//go:build full && linux

package ha

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pgflurry/tests/support/load"
)

// databaseWorkers is the number of workers for functions. They come first.
const databaseWorkers = 16

// outcome is the report of a storm: what it did, and what the clients saw.
type outcome struct {
	Mode      mode        `json:"mode"`
	Seed      uint64      `json:"seed"`
	Times     any         `json:"patroni"` // as changed from deploy/ha
	Faults    int         `json:"faults"`
	Failovers int         `json:"failovers"` // changes of the timeline
	Lost      float64     `json:"leasesLost"`
	Cures     int         `json:"freshWorkers"`    // how often an operator had to mend a function after a clock fault
	Restarts  int         `json:"patroniRestarts"` // how often an operator had to restart a Patroni: see operate()
	Copies    int         `json:"standbysCopiedAnew"`
	Function  int         `json:"idsTwiceOfTheFunction"`
	Stored    int64       `json:"idsTwiceOfRows"` // of these, in a row; clients only saw the others
	Proxies   int         `json:"idsTwiceOfProxies"`
	Load      load.Report `json:"load"`
}

// complete adds what is known only at the end.
func (s *storm) complete() {
	for _, name := range proxies {
		s.report.Lost += max(0, s.metric(name, "pgflurry_lease_renewals_total", `result="lost"`))
	}
	s.report.Restarts, s.report.Copies = s.restarts, s.copies
	s.report.Load = s.load.Report()
	for _, id := range s.report.Load.Repeated {
		if id>>12&1023 < databaseWorkers { // the default layout
			s.report.Function++
		} else {
			s.report.Proxies++
		}
	}
	if len(s.report.Load.Repeated) == 0 {
		return
	}
	conn := s.connect(primaryURL("owner", owner))
	defer conn.Close(context.Background())
	err := conn.QueryRow(context.Background(), "SELECT count(*) FROM load_commit WHERE id = ANY ($1)",
		s.report.Load.Repeated).Scan(&s.report.Stored)
	if err != nil {
		s.t.Error(err)
	}
}

// Markdown returns the report for people.
func (o outcome) Markdown() string {
	return fmt.Sprintf("%s, seed %d: %d faults, %d failovers. Leases lost: %.0f. Fresh workers: %d. "+
		"Patroni started again: %d times. Standbys copied anew: %d. "+
		"IDs twice: %d of the function (%d of rows), %d of proxies.\n\n%s",
		o.Mode, o.Seed, o.Faults, o.Failovers, o.Lost, o.Cures, o.Restarts, o.Copies,
		o.Function, o.Stored, o.Proxies, o.Load.Markdown())
}

// tell writes the report. If the storm failed it keeps the logs.
func (s *storm) tell() {
	s.t.Helper()
	s.complete()
	s.t.Logf("\n%s", s.report.Markdown())
	if *reports == "" {
		return
	}
	text, err := json.MarshalIndent(s.report, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	name := filepath.Join(*reports,
		strings.ReplaceAll(string(s.report.Mode), " ", "-")+time.Now().Format("-2006-01-02-1504"))
	for end, text := range map[string][]byte{".json": append(text, '\n'), ".md": []byte(s.report.Markdown())} {
		if err := os.WriteFile(name+end, text, 0o644); err != nil {
			s.t.Error(err)
		}
	}
	if s.t.Failed() {
		if err := os.CopyFS(name+"-logs", os.DirFS(s.folder)); err != nil {
			s.t.Error(err)
		}
	}
}
