package idserver

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"pgflurry/proxy/statement"
	"pgflurry/proxy/tally"
	"pgflurry/proxy/wire"
	"pgflurry/report"
)

// Stats adds up the counters of all sessions, as operators see them. It waits for no client. Each map has all its
// labels, including those at zero. The name and the accounts are not the server's to tell.
func (v *Server) Stats() report.IDDatabase {
	r := &v.register
	r.mu.Lock()
	all, sum, placed := r.sessionsLocked(), r.ended, r.placed
	r.mu.Unlock()

	var open [tally.States]int
	for _, s := range all { // a session may end meanwhile, but sum contains none of these yet
		sum.add(s)
		open[s.state()]++
	}
	limit := max(v.rules.Load().maxSessions, 0)
	st := report.IDDatabase{
		Opened: sum.opened, Open: tally.Labelled(tally.StateLabels[:], open[:]),
		Limit: limit, Full: limit > 0 && placed >= limit,
		Closed: tally.Labelled(reasonLabels[1:], sum.closed[1:]),
		Logins: make(map[string]int64, results), LoginsIn: v.loginTimes.Snapshot(),
		IDs: sum.ids, Numbers: sum.numbers, ByKind: tally.Labelled(statement.FormKindLabels[:], sum.answers[:]),
		Refused: tally.Labelled(refusalLabels[:], sum.refused[:]), ToClient: sum.toClient,
	}
	for i, label := range resultLabels {
		st.Logins[label] = v.logins[i].Load()
	}
	return st
}

// Session describes an open session.
type Session struct {
	User        string
	Application string // its first 63 bytes, as in pg_stat_activity; "": it has none
	Client      string // its address
	PID         int32  // of its key
	Since       time.Time
	State       string // as in report.IDDatabase.Open
	IDs         int64  // IDs that it has got
	Numbers     int64  // numbers of tags that it has got
}

// Sessions returns those that have logged in, the oldest first. It waits for no client.
func (v *Server) Sessions() []Session {
	var all []Session
	for _, s := range v.register.sessions() {
		if s.state() == tally.Login {
			continue
		}
		one := Session{
			User: s.user, Client: s.conn.RemoteAddr().String(), PID: s.pid, Since: s.since,
			State: tally.StateLabels[s.state()], IDs: s.counts.ids.Load(), Numbers: s.counts.numbers.Load(),
		}
		if name := s.application.Load(); name != nil {
			one.Application = (*name)[:min(len(*name), wire.NameBytes)]
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Session) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.PID, b.PID))
	})
	return all
}

// state may be called by any goroutine. A caller that sees the first status also sees all fields that were set before.
func (s *session) state() tally.State {
	switch s.status.Load() {
	case 0:
		return tally.Login
	case wire.StatusTransaction:
		return tally.InTransaction
	case wire.StatusFailed:
		return tally.Failed
	}
	return tally.Idle
}

// shown is the table of SHOW SESSIONS, for all who ask. As in pg_stat_activity, it hides the application names and
// addresses of other users' clients.
type shown struct {
	users       []string
	own, others [][]string // rows as their user sees them, and as others do
}

// show makes the table.
func (v *Server) show() shown {
	all := latest(v.Sessions())
	t := shown{make([]string, len(all)), make([][]string, len(all)), make([][]string, len(all))}
	for i, one := range all {
		t.users[i] = one.User
		t.own[i] = []string{
			strconv.Itoa(int(one.PID)), one.User, one.Application, one.Client, one.Since.UTC().Format(time.RFC3339),
			one.State, strconv.FormatInt(one.IDs, 10), strconv.FormatInt(one.Numbers, 10),
		}
		t.others[i] = slices.Clone(t.own[i])
		t.others[i][2], t.others[i][3] = "", ""
	}
	return t
}

// sessionsTable is the table as a user sees it.
func (v *Server) sessionsTable(reader string) Table {
	all := v.shown.Get()
	rows := slices.Clone(all.others)
	for i, user := range all.users {
		if user == reader {
			rows[i] = all.own[i]
		}
	}
	return Table{
		Columns: []string{
			"pid", "user_name", "application_name", "client_addr", "connected_at", "state", "ids", "numbers",
		},
		Rows: rows,
	}
}

// mostSessions is the largest number of rows of SHOW SESSIONS.
const mostSessions = 1000

// latest returns the sessions that began last.
func latest(all []Session) []Session { return all[max(len(all)-mostSessions, 0):] }
