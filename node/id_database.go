package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"pgflurry/account"
	"pgflurry/connstring"
	"pgflurry/idserver"
)

// IDDatabase is a database whose sessions need no PostgreSQL. The zero value means none.
type IDDatabase struct {
	// Name is what clients connect to, 1 to 63 bytes. Empty: there is no such database.
	Name string
	// Auth is how clients prove who they are: scram-sha-256, cert or trust. Empty: scram-sha-256.
	Auth string
	// AuthFile lists who may log in, in the format of PgBouncer's userlist. Empty: pgflurry.client of the lease
	// database.
	AuthFile string
	// AuthMaxAge is how old the last reading of the accounts may be for a login. Zero: no limit.
	AuthMaxAge time.Duration
	// MaxSessions is how many sessions may be open at once. Zero: no limit.
	MaxSessions int
	// IdleTimeout ends a session that has sent nothing for that long. Zero: never.
	IdleTimeout time.Duration
	// Segments is the database, one of Settings.Databases, whose tags the sessions draw from. Empty: the only one of
	// them, or none if there are several.
	Segments string
}

// UsualIDSessions is the default of --max-id-sessions. Idle sessions of that number take 120 MB.
const UsualIDSessions = 10_000

// Ways to log in to the ID database, as --id-auth and pg_hba.conf name them.
const (
	idAuthSCRAM = "scram-sha-256"
	idAuthCert  = "cert"
	idAuthTrust = "trust"
)

// idMethods are the same for idserver.
var idMethods = map[string]idserver.Method{
	idAuthSCRAM: idserver.SCRAM, idAuthCert: idserver.Certificate, idAuthTrust: idserver.Trust,
}

// leastMaxAge is the shortest --id-auth-max-age: below it, two failed readings would end all logins.
const leastMaxAge = 3 * account.ReadEvery

// longestDatabase is the longest name of a database in bytes: PostgreSQL cuts off the rest.
const longestDatabase = 63

// ofPostgres are databases that every server has.
var ofPostgres = []string{"postgres", "template0", "template1"}

// complete fills in defaults.
func (d *IDDatabase) complete() {
	if d.Name != "" && d.Auth == "" {
		d.Auth = idAuthSCRAM
	}
}

// accounts says whether only listed clients may log in.
func (d *IDDatabase) accounts() bool { return d.Name != "" && d.Auth != idAuthTrust }

// checkIDDatabase reports all errors in the settings of the ID database. leaseDatabase may be empty: not known.
func (s *Settings) checkIDDatabase(leaseDatabase string) error {
	d := &s.IDDatabase
	if d.Name == "" {
		return d.withoutEffect()
	}
	d.complete()
	return errors.Join(s.checkIDName(leaseDatabase), s.checkIDAuth(), d.checkLimits(), s.checkIDSegments(leaseDatabase))
}

// withoutEffect refuses settings that have no effect without an ID database.
func (d *IDDatabase) withoutEffect() error {
	var given []string
	for _, f := range []struct {
		flag string
		is   bool
	}{
		{"--id-auth", d.Auth != ""},
		{"--id-auth-file", d.AuthFile != ""},
		{"--id-auth-max-age", d.AuthMaxAge != 0},
		{"--max-id-sessions", d.MaxSessions != 0 && d.MaxSessions != UsualIDSessions},
		{"--id-idle-timeout", d.IdleTimeout != 0},
		{"--id-segments", d.Segments != ""},
	} {
		if f.is {
			given = append(given, f.flag)
		}
	}
	switch len(given) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s has no effect without --id-database; give both, or neither", given[0])
	}
	return fmt.Errorf("%s have no effect without --id-database; give it too, or none of them",
		strings.Join(given, ", "))
}

// checkIDName refuses names of other databases, and names that are invalid.
func (s *Settings) checkIDName(leaseDatabase string) error {
	name := s.IDDatabase.Name
	switch {
	case connstring.LooksLikeOne(name):
		return fmt.Errorf("--id-database is %s; expected the name of a database, such as pgflurry",
			connstring.NotRepeated)
	case len(name) > longestDatabase:
		return fmt.Errorf("--id-database has %d bytes; expected at most %d", len(name), longestDatabase)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("--id-database is %q; expected a name without control characters", name)
	case slices.Contains(s.Databases, name):
		return fmt.Errorf("--id-database is %s, which is one of --databases: its sessions would not reach PostgreSQL; "+
			"expected a name that no database has, such as pgflurry", name)
	case name == leaseDatabase:
		return fmt.Errorf("--id-database is %s, which is the lease database: its sessions would not reach PostgreSQL; "+
			"expected a name that no database has, such as pgflurry", name)
	case slices.Contains(ofPostgres, name):
		return fmt.Errorf("--id-database is %s, which each server of PostgreSQL has: its sessions would not reach it; "+
			"expected a name that no database has, such as pgflurry", name)
	}
	return nil
}

// checkIDAuth reports errors in how clients log in.
func (s *Settings) checkIDAuth() error {
	d := &s.IDDatabase
	if _, known := idMethods[d.Auth]; !known {
		return fmt.Errorf("--id-auth is %s; expected scram-sha-256, cert or trust", connstring.Shown(d.Auth))
	}
	var wrong []error
	if d.Auth == idAuthCert && s.TLS.ClientCA == "" {
		wrong = append(wrong, errors.New("--id-auth cert needs --client-tls-ca: "+
			"the certificates of clients have to be asked for, and verified"))
	}
	if d.Auth == idAuthTrust {
		if d.AuthFile != "" || d.AuthMaxAge != 0 {
			wrong = append(wrong, errors.New("--id-auth-file or --id-auth-max-age has no effect with --id-auth trust, "+
				"which lets in whoever connects; leave them out, or give --id-auth scram-sha-256"))
		}
		if place := s.reachedFromElsewhere(); place != "" {
			wrong = append(wrong, trustedElsewhere(place))
		}
	}
	return errors.Join(wrong...)
}

// trustedElsewhere refuses --id-auth trust if other machines can reach it.
func trustedElsewhere(place string) error {
	return fmt.Errorf("--id-auth trust lets in whoever connects, and other machines reach --listen %s; "+
		"expected a loopback address or a Unix socket, or --id-auth scram-sha-256", place)
}

// reachedFromElsewhere is the address of clients if other machines may reach it; empty if only this one does.
func (s *Settings) reachedFromElsewhere() string {
	if s.Listener != nil {
		return elsewhere(s.Listener.Addr())
	}
	network, place, err := ParseAddress("listen", s.Listen)
	if err != nil || network == "unix" { // an error is reported elsewhere
		return ""
	}
	if host, _, err := net.SplitHostPort(place); err == nil && isLoopback(host) {
		return ""
	}
	return place
}

// elsewhere is the same for an open listener.
func elsewhere(own net.Addr) string {
	if tcp, is := own.(*net.TCPAddr); is && !tcp.IP.IsLoopback() {
		return own.String()
	}
	return ""
}

// checkLimits refuses impossible numbers.
func (d *IDDatabase) checkLimits() error {
	var wrong []error
	if d.AuthMaxAge != 0 && d.AuthMaxAge < leastMaxAge {
		wrong = append(wrong, fmt.Errorf("--id-auth-max-age is %v, but accounts are read every %v; "+
			"expected at least %v, or 0 for no limit", d.AuthMaxAge, account.ReadEvery, leastMaxAge))
	}
	if d.IdleTimeout != 0 && d.IdleTimeout < leastTimeout {
		wrong = append(wrong, fmt.Errorf("--id-idle-timeout is %v; expected at least %v, or 0 for never",
			d.IdleTimeout, leastTimeout))
	}
	return errors.Join(append(wrong, atLeastZero("max-id-sessions", d.MaxSessions, "no limit"))...)
}

// checkIDSegments refuses a database that is not listed.
func (s *Settings) checkIDSegments(leaseDatabase string) error {
	list := s.Databases
	if len(list) == 0 && leaseDatabase != "" {
		list = []string{leaseDatabase}
	}
	name := s.IDDatabase.Segments
	if name == "" || len(list) == 0 || slices.Contains(list, name) {
		return nil
	}
	return fmt.Errorf("--id-segments is %s; expected one of --databases: %s", connstring.Shown(name),
		strings.Join(list, ", "))
}

// checkFile reads the file of accounts.
func (d *IDDatabase) checkFile() error {
	if d.AuthFile == "" || !d.accounts() {
		return nil
	}
	_, err := account.NewFile(d.AuthFile).Read(context.Background(), time.Time{})
	return unreadFile(err)
}

// unreadFile adds the name of the flag.
func unreadFile(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--id-auth-file: %w", err)
}
