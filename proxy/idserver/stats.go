package idserver

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"pgflurry/internal/report"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// Stats adds up the counters of all sessions, as operators see them. It waits for no client. Each map has all its
// labels, including those at zero. The name and the accounts are not the server's to tell.
func (v *Server) Stats() report.IDDatabase {
	all, sum := v.register.Open()
	var open [frontend.States]int
	for _, s := range all { // a session may end meanwhile, but sum contains none of these yet
		s.AddTo(&sum)
		open[s.state()]++
	}
	limit := max(v.rules.Load().MaxSessions, 0)
	st := report.IDDatabase{
		Opened: sum.Opened, Open: frontend.Labelled(frontend.StateLabels[:], open[:]),
		Limit: limit, Full: v.slots.full(limit),
		Closed: sum.Closed(
			frontend.ClosedClient, frontend.ClosedDrain, frontend.ClosedIdle, frontend.ClosedRemoved,
			frontend.ClosedProtocol, frontend.ClosedFault,
		),
		Logins: make(map[string]int64, results), LoginsIn: v.loginTimes.Snapshot(),
		IDs: sum.IDs, Numbers: sum.Numbers, ByKind: frontend.Labelled(statement.FormKindLabels[:], sum.Answers[:]),
		Refused: frontend.Labelled(refusalLabels[:], sum.Refused[:]), ToClient: sum.ToClient,
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
	open, _ := v.register.Open()
	for _, s := range open {
		if s.state() == frontend.Login {
			continue
		}
		one := Session{
			User: s.user, Client: s.conn.RemoteAddr().String(), PID: s.pid, Since: s.since,
			State: frontend.StateLabels[s.state()], IDs: s.counts.IDs.Load(), Numbers: s.counts.Numbers.Load(),
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
func (s *session) state() frontend.State {
	switch s.status.Load() {
	case 0:
		return frontend.Login
	case wire.StatusTransaction:
		return frontend.InTransaction
	case wire.StatusFailed:
		return frontend.Failed
	}
	return frontend.Idle
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
