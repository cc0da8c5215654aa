package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pgflurry/internal/report"
)

// Verdict is the answer of a probe.
type Verdict struct {
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"` // why not OK
}

// The paths of the probes for balancers.
const (
	readyPath           = "/readyz"
	readyIDsPath        = "/readyz/ids"
	readyIDDatabasePath = "/readyz/id-database" // what its clients need, and no more
)

func no(why string, values ...any) Verdict { return Verdict{Why: fmt.Sprintf(why, values...)} }

func noPlace(limit int) Verdict {
	return no("full: one more session is turned away (the limit is %d)", limit)
}

// probes registers the paths of the probes. A verdict depends on a State only. If a probe asked the database, a slow
// database would end all proxies at once. A probe's connection is the last one to give way.
func (s *Server) probes(mux *http.ServeMux) {
	for path, judge := range map[string]func() Verdict{
		"/livez":            live,
		readyPath:           func() Verdict { return ready(s.state.Anew()) },
		readyIDsPath:        func() Verdict { return readyForIDs(s.state.Anew()) },
		readyIDDatabasePath: func() Verdict { return readyForIDDatabase(s.state.Anew()) },
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			keepConnection(r)
			judge().write(w)
		})
	}
}

// write answers 200 or 503.
func (v Verdict) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !v.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// live: the process answers. It looks at no state, so nothing that makes one keeps it waiting.
func live() Verdict { return Verdict{OK: true} }

// accepting: a new client is let in.
func accepting(s report.State) Verdict {
	switch {
	case s.Draining:
		return no("draining: open transactions are finished, and new sessions are turned away")
	case !s.Listening:
		return no("not listening yet")
	case s.Sessions.Full:
		return noPlace(s.Sessions.Limit)
	}
	return Verdict{OK: true}
}

// ready: a new client is served by PostgreSQL.
func ready(s report.State) Verdict {
	if v := accepting(s); !v.OK {
		return v
	}
	found, why := time.Time{}, "no look has ended"
	if !s.Lease.Granted && s.Lease.Cause != "" { // looks begin when the lease database has said which ID space this is
		why = "the lease database is looked at first: " + s.Lease.Cause
	}
	for _, d := range s.Databases {
		if d.Found.After(found) {
			found = d.Found
		}
		if d.Away != "" {
			why = d.Away
		}
	}
	switch {
	case found.IsZero():
		return no("PostgreSQL was not reached yet: %s", why)
	case upstreamAway(s) && s.At.Sub(found) > awayPatience:
		return no("PostgreSQL was last reached %s ago: %s", lasting(s.At.Sub(found)), why)
	case len(s.Databases) > 0 && s.At.Sub(found) > silentPatience:
		return no("PostgreSQL has answered nothing for %s", lasting(s.At.Sub(found)))
	}
	return Verdict{OK: true}
}

const (
	// awayPatience is how long PostgreSQL may be away until a balancer should choose another proxy. There is a look
	// about every two seconds. A restart of PostgreSQL takes less.
	awayPatience = 8 * time.Second
	// silentPatience is how long it may say nothing although it takes connections. What is slow is not gone.
	silentPatience = 30 * time.Second
)

// readyForIDDatabase: a new client of the ID database is served, and gets IDs. PostgreSQL may be away.
func readyForIDDatabase(s report.State) Verdict {
	if v := accepting(s); !v.OK {
		return v
	}
	switch {
	case s.IDDatabase.Name == "":
		return no("there is no ID database: --id-database names it")
	case s.IDDatabase.Full:
		return noPlace(s.IDDatabase.Limit)
	case s.Lease.Reserve <= 0:
		return no("no IDs: %s", causeOf(s.Lease))
	}
	return Verdict{OK: true}
}

// readyForIDs: a new client is served, and gets IDs from memory in each listed database.
func readyForIDs(s report.State) Verdict {
	if v := ready(s); !v.OK {
		return v
	}
	if s.Lease.Reserve <= 0 {
		return no("no IDs from memory, %s: %s", instead(s), causeOf(s.Lease))
	}
	for _, d := range s.Databases {
		if d.IDs == "all" {
			continue
		}
		why := d.IDsWhy
		if why == "" {
			why = "it was not judged yet"
		}
		if d.IDs == "qualified" {
			return no("database %q gets IDs from memory only for calls with their schema: %s", d.Name, why)
		}
		return no("database %q gets no IDs from memory: %s", d.Name, why)
	}
	return Verdict{OK: true}
}

// causeOf says why a lease gives no IDs.
func causeOf(l report.Lease) string {
	switch {
	case l.Cause != "":
		return l.Cause
	case l.Granted:
		return fmt.Sprintf("the lease of worker %d has ended", l.Worker)
	default:
		return "no worker is leased yet"
	}
}
