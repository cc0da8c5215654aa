package node

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/hint"
)

//go:embed id_server.sql
var hasDatabaseSQL string

// A realServer is what the ID database has to know of the server behind the proxy. The watch tells it.
type realServer struct {
	name       string // of the ID database
	parameters atomic.Pointer[map[string]string]
	hidden     atomic.Pointer[string] // through which database a real one of the name was seen; nil: there is none
}

// leastServer are parameters of the least version that is supported, with its defaults. They hold until the server
// behind the proxy was seen.
var leastServer = map[string]string{
	"server_version": "15.0", "server_encoding": "UTF8", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres",
	"TimeZone": "Etc/UTC", "integer_datetimes": "on", "standard_conforming_strings": "on",
}

// ofSessions are the parameters that PostgreSQL reports and that each session has for itself. Drivers wait for some of
// them: pgx takes no simple query without client_encoding.
var ofSessions = map[string]string{
	"application_name": "", "client_encoding": "UTF8", "default_transaction_read_only": "off", "in_hot_standby": "off",
	"is_superuser": "off", "session_authorization": "",
}

// firstServer has all of them.
func firstServer() *map[string]string {
	all := maps.Clone(leastServer)
	maps.Copy(all, ofSessions)
	return &all
}

func newRealServer(name string) *realServer {
	s := &realServer{name: name}
	s.parameters.Store(firstServer())
	return s
}

// last are the parameters as seen last. Nobody writes to them.
func (s *realServer) last() map[string]string { return *s.parameters.Load() }

// heard takes over what the server says of itself. What it leaves out, as a pooler may, stays as it was.
func (s *realServer) heard(conn *pgconn.PgConn) {
	before := s.last()
	next := maps.Clone(before)
	for name := range leastServer {
		if value := conn.ParameterStatus(name); value != "" {
			next[name] = value
		}
	}
	if !maps.Equal(before, next) {
		s.parameters.Store(&next)
	}
}

// has asks whether there is a real database of the name. An error says that nobody knows.
func (s *realServer) has(ctx context.Context, conn *pgx.Conn) (real bool, err error) {
	err = conn.QueryRow(ctx, hasDatabaseSQL, s.name).Scan(&real)
	return real, err
}

// forget says that no real database is seen from a listed one any more. It is false where none was.
func (s *realServer) forget(listed string) bool {
	by := s.hidden.Load()
	return by != nil && *by == listed && s.hidden.CompareAndSwap(by, nil)
}

// meet is a look at the server for the ID database, at the end of one at a database.
func (d *databaseWatch) meet(ctx context.Context, conn *pgx.Conn) error {
	s := d.server
	if s == nil {
		return nil
	}
	s.heard(conn.PgConn())
	real, err := s.has(ctx, conn)
	switch {
	case err != nil: // as well as could be asked; a connection that has ended is noticed by the next look
		return nil
	case real && d.first && !d.seen:
		return &wrongDatabase{hidesOne(s.name)}
	}
	d.reportHidden(real)
	return nil
}

// hidesOne says that sessions cannot reach a real database.
func hidesOne(name string) error {
	return hint.With(fmt.Errorf("--id-database is %s, but the server has a database of that name: "+
		"its clients would not reach it", name),
		"Choose another name for --id-database, or rename that database.")
}

// reportHidden notes that a real database of the name is there, or is not. It ends nothing: sessions are open.
func (d *databaseWatch) reportHidden(real bool) {
	s := d.server
	switch {
	case real:
		s.hidden.Store(&d.name)
		err := hidesOne(s.name)
		d.report(finding{
			about: aboutHidden, what: "a real database cannot be reached through the proxy", why: err.Error(),
			hint: hint.Of(err), fault: slog.LevelError,
		})
	case s.forget(d.name):
		d.report(finding{about: aboutHidden, what: "the real database with the name of --id-database is gone"})
	}
}
