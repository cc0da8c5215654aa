package node

import (
	"strconv"
	"time"

	"pgflurry/internal/config"
	"pgflurry/internal/report"
	"pgflurry/proxy/idserver"
)

// SHOW in the ID database shows a client the node that it is connected to, and the state of its IDs. Of other nodes it
// shows only worker numbers, which are in IDs anyway. Names and addresses of other nodes are for operators ("pgflurry
// workers list", and the status page).

// mostWorkers limits the rows of SHOW WORKERS.
const mostWorkers = 1000

// console maps the word after SHOW to its table.
func (u *supply) console() map[string]idserver.Topic {
	return map[string]idserver.Topic{
		"VERSION": {
			Tells: "version and node of the proxy, and the layout of its IDs",
			Table: func() idserver.Table { return versionTable(u.settings, u.state()) },
		},
		"LEASE": {
			Tells: "the worker in its IDs, and until when there are any; the cause, if there are none",
			Table: func() idserver.Table { return leaseTable(u.state()) },
		},
		"WORKERS": {
			Tells: "workers that were ever in use and up to when, as last read from the lease database",
			Table: func() idserver.Table { return workersTable(u.surveyed.Load()) },
		},
	}
}

func versionTable(s config.Settings, state report.State) idserver.Table {
	return idserver.Table{
		Columns: []string{"version", "node", "namespace", "layout"},
		Rows:    [][]string{{"pgflurry " + s.Version, s.Name, state.Namespace.ID, state.Namespace.Layout}},
	}
}

// leaseTable is one row. Unknown values are empty.
func leaseTable(s report.State) idserver.Table {
	l := s.Lease
	state, worker, why := "none", "", ""
	switch {
	case l.Held && l.Reserve > 0:
		state = "held"
	case l.Reserve > 0:
		state = "ending" // the worker is lost, but the proxy may finish its grant
	case l.Granted:
		state = "ended"
	}
	if l.Granted {
		worker = strconv.Itoa(l.Worker)
	}
	if l.Reason != "" || !l.Granted {
		why, _ = whyNoWorker(s)
	}
	return idserver.Table{
		Columns: []string{"state", "worker", "reserved_until", "reserved_for", "window", "renewed", "cause"},
		Rows: [][]string{{
			state, worker, timestamp(l.Until), l.Reserve.Round(time.Millisecond).String(), l.Window.String(),
			timestamp(l.Renewed), why,
		}},
	}
}

// workersTable lists the workers that were ever used, or retired. All others are free.
func workersTable(read *report.Workers) idserver.Table {
	t := idserver.Table{Columns: []string{"worker", "state", "reserved_until"}}
	if read == nil {
		return t
	}
	for _, w := range read.Rows[:min(len(read.Rows), mostWorkers)] {
		until := ""
		if w.Left != nil {
			until = timestamp(read.Read.Add(*w.Left))
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(w.Number), w.State, until})
	}
	return t
}

// timestamp is a time to the millisecond; empty: not known.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
