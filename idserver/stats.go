package idserver

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"pgflurry/histogram"
	"pgflurry/proxy/statement"
	"pgflurry/proxy/tally"
	"pgflurry/proxy/wire"
)

// Stats has the counts since the Server was made. Each map has all its labels, including those at zero.
type Stats struct {
	Sessions int   // logged in now
	Opened   int64 // sessions that logged in
	// Open has the clients by what they do: login, idle, in_transaction, failed.
	Open map[string]int
	// Limit is how many sessions may be open; 0: no limit. Full says that all places are taken.
	Limit int
	Full  bool

	Answers int64 // statements that gave IDs or numbers
	// ByKind is the same by form: snowflake (one row), snowflakes (several rows, or as many as a parameter says),
	// segment (numbers of a tag).
	ByKind  map[string]int64
	IDs     int64 // IDs in them
	Numbers int64 // numbers of tags in them
	// Refused are statements that got an ERROR: no_ids, not_supported, other.
	Refused map[string]int64

	// Closed are sessions that ended, by the reason that came first. Closed and Sessions add up to Opened.
	Closed map[string]int64
	// Logins are clients that asked for a session, by outcome:
	//
	//	ok         the first ReadyForQuery
	//	password   a wrong password, or a name without one: a client cannot tell these apart; or a certificate that
	//	           does not name the user
	//	attempts   too many wrong passwords before
	//	limit      a limit on sessions, of all or of the account
	//	unready    the accounts were never read, or too long ago
	//	refused    every other error that a client reads
	//	left       the client left before it read an error, or the login timeout ended it
	Logins map[string]int64
	// LoginDurations last from the startup packet to the first ReadyForQuery. They include the time that the client
	// takes.
	LoginDurations histogram.Snapshot

	// ToClient are bytes, without those of TLS.
	ToClient int64
}

// Stats adds up the counters of all sessions. It waits for no client.
func (v *Server) Stats() Stats {
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
	st := Stats{
		Sessions: placed, Opened: sum.opened, Open: tally.Labelled(tally.StateLabels[:], open[:]), Limit: limit,
		Full: limit > 0 && placed >= limit, ByKind: tally.Labelled(statement.FormKindLabels[:], sum.answers[:]),
		IDs: sum.ids, Numbers: sum.numbers, Refused: tally.Labelled(refusalLabels[:], sum.refused[:]),
		Closed: tally.Labelled(reasonLabels[1:], sum.closed[1:]), Logins: make(map[string]int64, results),
		LoginDurations: v.loginTimes.Snapshot(), ToClient: sum.toClient,
	}
	for _, n := range sum.answers {
		st.Answers += n
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
	State       string // as in Stats.Open
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
			one.Application = cut(*name)
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

// sessionsTable is the table as the user of this session sees it.
func (s *session) sessionsTable() Table {
	all := s.server.shown.Get()
	rows := slices.Clone(all.others)
	for i, user := range all.users {
		if user == s.user {
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
