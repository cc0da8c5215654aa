package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/connect"
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
	IDAuthSCRAM = "scram-sha-256"
	IDAuthCert  = "cert"
	IDAuthTrust = "trust"
)

var idAuths = []string{IDAuthSCRAM, IDAuthCert, IDAuthTrust}

// leastMaxAge is the shortest --id-auth-max-age: below it, two failed readings would end all logins.
const leastMaxAge = 3 * account.ReadEvery

// longestDatabase is the longest name of a database in bytes: PostgreSQL cuts off the rest.
const longestDatabase = 63

// ofPostgres are databases that every server has.
var ofPostgres = []string{"postgres", "template0", "template1"}

// complete fills in defaults.
func (d *IDDatabase) complete() {
	if d.Name != "" && d.Auth == "" {
		d.Auth = IDAuthSCRAM
	}
}

// Accounts says whether only listed clients may log in.
func (d *IDDatabase) Accounts() bool { return d.Name != "" && d.Auth != IDAuthTrust }

// checkIDDatabase reports all errors in the settings of the ID database. leaseDatabase may be empty: not known.
func (s *Settings) checkIDDatabase(leaseDatabase string) error {
	d := &s.IDDatabase
	if d.Name == "" {
		return nil
	}
	d.complete()
	return errors.Join(s.checkIDName(leaseDatabase), s.checkIDAuth(), d.checkLimits(), s.checkIDSegments(leaseDatabase))
}

// checkIDName refuses names of other databases, and names that are invalid.
func (s *Settings) checkIDName(leaseDatabase string) error {
	name := s.IDDatabase.Name
	switch {
	case connect.LooksLikeOne(name):
		return wrong("id-database", "--id-database is %s; expected the name of a database, such as pgflurry",
			connect.NotRepeated)
	case len(name) > longestDatabase:
		return wrong("id-database", "--id-database has %d bytes; expected at most %d", len(name), longestDatabase)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return wrong("id-database", "--id-database is %q; expected a name without control characters", name)
	case slices.Contains(s.Databases, name):
		return of([]string{"id-database", "databases"}, fmt.Errorf("--id-database is %s, which is one of --databases: "+
			"its sessions would not reach PostgreSQL; expected a name that no database has, such as pgflurry", name))
	case name == leaseDatabase:
		return wrong("id-database", "--id-database is %s, which is the lease database: "+
			"its sessions would not reach PostgreSQL; expected a name that no database has, such as pgflurry", name)
	case slices.Contains(ofPostgres, name):
		return wrong("id-database", "--id-database is %s, which each server of PostgreSQL has: "+
			"its sessions would not reach it; expected a name that no database has, such as pgflurry", name)
	}
	return nil
}

// checkIDAuth reports errors in how clients log in.
func (s *Settings) checkIDAuth() error {
	d := &s.IDDatabase
	if !slices.Contains(idAuths, d.Auth) {
		return wrong("id-auth", "--id-auth is %s; expected scram-sha-256, cert or trust", connect.Shown(d.Auth))
	}
	var all []error
	if d.Auth == IDAuthCert && s.TLS.ClientCA == "" {
		all = append(all, of([]string{"id-auth", "client-tls-ca"}, errors.New("--id-auth cert needs "+
			"--client-tls-ca: the certificates of clients have to be asked for, and verified")))
	}
	if d.Auth == IDAuthTrust {
		if d.AuthFile != "" || d.AuthMaxAge != 0 {
			all = append(all, of([]string{"id-auth-file", "id-auth-max-age", "id-auth"},
				errors.New("--id-auth-file or --id-auth-max-age has no effect with --id-auth trust, "+
					"which lets in whoever connects; leave them out, or give --id-auth scram-sha-256")))
		}
		if address := s.reachedFromElsewhere(); address != "" {
			all = append(all, TrustedElsewhere(address))
		}
	}
	return errors.Join(all...)
}

// TrustedElsewhere refuses --id-auth trust if other machines can reach it.
func TrustedElsewhere(address string) error {
	return of([]string{"id-auth", "listen"},
		fmt.Errorf("--id-auth trust lets in whoever connects, and other machines reach --listen %s; "+
			"expected a loopback address or a Unix socket, or --id-auth scram-sha-256", address))
}

// reachedFromElsewhere is the address of clients if other machines may reach it; empty if only this one does.
func (s *Settings) reachedFromElsewhere() string {
	if s.Listener != nil {
		return Elsewhere(s.Listener.Addr())
	}
	if s.At.Network != "tcp" {
		return ""
	}
	if host, _, err := net.SplitHostPort(s.At.Address); err == nil && isLoopback(host) {
		return ""
	}
	return s.At.Address
}

// checkLimits refuses impossible numbers.
func (d *IDDatabase) checkLimits() error {
	var all []error
	if d.AuthMaxAge != 0 && d.AuthMaxAge < leastMaxAge {
		all = append(all, wrong("id-auth-max-age", "--id-auth-max-age is %v, but accounts are read every %v; "+
			"expected at least %v, or 0 for no limit", d.AuthMaxAge, account.ReadEvery, leastMaxAge))
	}
	if d.IdleTimeout != 0 && d.IdleTimeout < leastTimeout {
		all = append(all, wrong("id-idle-timeout", "--id-idle-timeout is %v; expected at least %v, or 0 for never",
			d.IdleTimeout, leastTimeout))
	}
	return errors.Join(append(all, atLeastZero("max-id-sessions", d.MaxSessions, "no limit"))...)
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
	return of([]string{"id-segments", "databases"}, fmt.Errorf("--id-segments is %s; expected one of --databases: %s",
		connect.Shown(name), strings.Join(list, ", ")))
}
