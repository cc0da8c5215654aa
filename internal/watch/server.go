package watch

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
)

//go:embed has_database.sql
var hasDatabaseSQL string

// A Server is what the ID database knows of the server behind the proxy. The watch fills it in.
type Server struct {
	name       string // of the ID database
	parameters atomic.Pointer[map[string]string]
	hidden     atomic.Pointer[string] // listed database through which a real one was seen; nil: none
}

// leastServer are the default parameters of the oldest supported version. They hold until the server behind the proxy
// was seen.
var leastServer = map[string]string{
	"server_version": "15.0", "server_encoding": "UTF8", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres",
	"TimeZone": "Etc/UTC", "integer_datetimes": "on", "standard_conforming_strings": "on",
}

// ofSessions are parameters that PostgreSQL reports, with a value for each session. Some drivers wait for them: without
// client_encoding, pgx runs no simple query.
var ofSessions = map[string]string{
	"application_name": "", "client_encoding": "UTF8", "default_transaction_read_only": "off", "in_hot_standby": "off",
	"is_superuser": "off", "session_authorization": "",
}

// ofNewer are parameters that newer versions report: 18 the search path, 16 the iterations of SCRAM. A value is that of
// each session; empty: the server's.
var ofNewer = map[string]string{"scram_iterations": "", "search_path": `"$user", public`}

// firstServer joins the first two.
func firstServer() *map[string]string {
	all := maps.Clone(leastServer)
	maps.Copy(all, ofSessions)
	return &all
}

// NewServer makes a Server that was not seen yet. name is the ID database's.
func NewServer(name string) *Server {
	s := &Server{name: name}
	s.parameters.Store(firstServer())
	return s
}

// Parameters are the latest that it has reported to a session. They must not be modified.
func (s *Server) Parameters() map[string]string { return *s.parameters.Load() }

// heard stores the parameters that the server reports. Those that it does not report, as behind a pooler, stay.
func (s *Server) heard(conn *pgconn.PgConn) {
	before := s.Parameters()
	next := maps.Clone(before)
	for name := range leastServer {
		if value := conn.ParameterStatus(name); value != "" {
			next[name] = value
		}
	}
	for name, value := range ofNewer {
		if said := conn.ParameterStatus(name); said != "" {
			next[name] = cmp.Or(value, said)
		}
	}
	if !maps.Equal(before, next) {
		s.parameters.Store(&next)
	}
}

// has asks whether there is a real database of that name. An error means that the answer is unknown.
func (s *Server) has(ctx context.Context, conn *pgx.Conn) (real bool, err error) {
	err = conn.QueryRow(ctx, hasDatabaseSQL, s.name).Scan(&real)
	return real, err
}

// forget records that a listed database no longer shows a real one. It is false if no real one was known.
func (s *Server) forget(listed string) bool {
	by := s.hidden.Load()
	return by != nil && *by == listed && s.hidden.CompareAndSwap(by, nil)
}

// Hides is the listed database through which a real one with the ID database's name was seen; empty: none.
func (s *Server) Hides() string {
	if by := s.hidden.Load(); by != nil {
		return *by
	}
	return ""
}

// meet asks the server for what the ID database needs to know, at the end of a look. If strict says so, it is an error
// that the ID database hides a real one.
func (s *Server) meet(ctx context.Context, conn *pgx.Conn, strict bool, found *reminders) error {
	if s == nil {
		return nil
	}
	s.heard(conn.PgConn())
	real, err := s.has(ctx, conn)
	switch {
	case err != nil: // the answer is unknown; the next look notices a broken connection
		return nil
	case real && strict:
		return &wrongDatabase{hidesOne(s.name)}
	}
	s.reportHidden(real, found)
	return nil
}

// hidesOne is the error of an ID database that hides a real one from sessions.
func hidesOne(name string) error {
	return fault.WithHint(fmt.Errorf("--id-database is %s, but the server has a database of that name: "+
		"its clients would not reach it", name),
		"Choose another name for --id-database, or rename that database.")
}

// reportHidden records whether there is a real database of that name. It ends nothing, because sessions are open.
func (s *Server) reportHidden(real bool, found *reminders) {
	switch {
	case real:
		s.hidden.Store(&found.database)
		err := hidesOne(s.name)
		found.report(finding{
			about: aboutHidden, what: "a real database cannot be reached through the proxy", why: err.Error(),
			hint: fault.HintOf(err), fault: slog.LevelError,
		})
	case s.forget(found.database):
		found.report(finding{about: aboutHidden, what: "the real database with the name of --id-database is gone"})
	}
}
