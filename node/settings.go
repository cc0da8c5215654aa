package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"pgflurry/connstring"
	"pgflurry/fresh"
	"pgflurry/namespace"
)

// maxAddress is the longest address in characters, as the worker table has it.
const maxAddress = 255

// Settings say what one node does. Errors name a setting by the flag of serve that gives it: Window is --window.
type Settings struct {
	// Listen is the address for clients: HOST:PORT, or the path of a Unix socket. Required without Listener.
	Listen string
	// Listener is an open socket that is shared with the next process, such as one of a service manager. Then the node
	// does not open Listen. New takes it over, even if it fails. Nil: none.
	Listener net.Listener
	// ListenMode is the mode of the Unix socket that Listen names: who on this machine may connect. Zero: 0777, as
	// PostgreSQL.
	ListenMode fs.FileMode
	// Advertise is the address of the node that others see in the worker table, at most 255 characters. Empty: that of
	// the listener, with Host if it listens on every interface.
	Advertise string
	// Host is the name of this machine. Empty: not known.
	Host string
	// Upstream is PostgreSQL or a pooler: HOST:PORT, a Unix socket, or its directory. Several are separated by commas,
	// and a connection goes to the first that takes it. Required.
	Upstream string
	// UpstreamPrimary sends connections only to the host that says it is the primary, and ends them when it no longer
	// is.
	UpstreamPrimary bool
	// UnixUpstreamTrustsClients lets clients use a Unix socket of Upstream with the rights of the account that the node
	// runs as. The method peer of pg_hba.conf takes each of them for it.
	UnixUpstreamTrustsClients bool
	// LeaseDatabase is the connection string of the database with the worker table. Required.
	LeaseDatabase string
	// Databases are those whose sessions are answered. Empty: the lease database.
	Databases []string
	// Name is the node's (--node), 1 to 255 characters. It stays the same after a restart, and then gets its last
	// worker if that is free. Required.
	Name string
	// Datacenter is the number of the node's datacenter, if the layout has bits for it. Nil: any.
	Datacenter *int
	// Window is how far ahead the lease reserves: 1 s up to max_window of the namespace. Required.
	Window time.Duration
	// DrainTimeout is how long open transactions may go on when Run ends. Zero: they end at once.
	DrainTimeout time.Duration
	// Limits bound the clients.
	Limits Limits
	// IDDatabase is a database whose sessions need no PostgreSQL. The zero value means none.
	IDDatabase IDDatabase
	// TLS protects both sides. The zero value is plain text.
	TLS TLS
	// SecretFiles are those that other settings were read from. The node only warns if everybody may read them.
	SecretFiles []string
	// Admin serves operators. The zero value means nobody does.
	Admin Admin
	// Survey is the pause between two readings of the worker table for State, at least 1 s. Zero: 10 s with Admin or
	// IDDatabase; without them the table is not read.
	Survey time.Duration
	// Version is that of the program, at most 255 characters. The worker table shows it.
	Version string
	// Log gets what the node logs. Its handler must not wait for the reader of the log: all sessions would wait with
	// it, and so would the end. Nil: no log.
	Log *slog.Logger
	// LinesLost is how many lines the handler has dropped instead of waiting. Nil: it drops none.
	LinesLost func() int64
}

// longestName is the longest name of a node in characters, as its column has it.
const longestName = 255

// closeHandedOver closes the listeners that were opened elsewhere.
func (s *Settings) closeHandedOver() {
	for _, listener := range []net.Listener{s.Listener, s.Admin.Listener} {
		if listener != nil {
			listener.Close()
		}
	}
}

// Check reports all errors in the settings at once. It reads the files that they name. It opens no listener and
// connects to nothing, so it cannot find every error.
func (s Settings) Check() error {
	_, err := s.complete()
	return errors.Join(err, s.TLS.check(s.Log), s.IDDatabase.checkFile())
}

// complete fills in defaults and reports all errors. It returns the configuration of the lease database's connection.
func (s *Settings) complete() (*pgx.ConnConfig, error) {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.LinesLost == nil {
		s.LinesLost = func() int64 { return 0 }
	}
	var noListen error
	if s.Listener == nil {
		_, _, noListen = ParseAddress("listen", s.Listen)
	}
	_, noUpstream := parseUpstream(s.Upstream)
	var noAdmin error
	if s.Admin.Listen != "" {
		_, _, noAdmin = ParseAddress("admin-listen", s.Admin.Listen)
	}
	config, noDatabase := s.leaseConfig()
	lease := ""
	if noDatabase == nil {
		lease = config.Database
	}
	wrong := errors.Join(noListen, noAdmin, noUpstream, noDatabase, s.checkDatabases(), s.checkLease(),
		s.Limits.check(), s.TLS.complete(), s.checkOwnAccount(), s.checkIDDatabase(lease))
	if wrong != nil {
		return nil, wrong
	}
	if len(s.Databases) == 0 {
		s.Databases = []string{lease}
	}
	return config, nil
}

// leaseConfig is the configuration of the lease database's connection.
func (s *Settings) leaseConfig() (*pgx.ConnConfig, error) {
	config, err := connstring.Parse("lease-database", s.LeaseDatabase)
	if err != nil {
		return nil, err
	}
	if config.Database == "" {
		config.Database = config.User // PostgreSQL's default, too
	}
	fresh.PassOverStandbys(&config.Config)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // leaves no prepared statement behind in a pooler
	return config, nil
}

// checkDatabases refuses impossible names.
func (s *Settings) checkDatabases() error {
	for _, name := range s.Databases { // names are logged, so none may be a connection string
		switch {
		case name == "":
			return errors.New("--databases has an empty name; expected names of databases, such as app,reports, " +
				"or nothing for the lease database")
		case connstring.LooksLikeOne(name):
			return fmt.Errorf("--databases has %s; expected names of databases", connstring.NotRepeated)
		}
	}
	return nil
}

// printable says whether a text can stand in the worker table, in one line of a log and of a terminal.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// checkLease refuses settings without which no lease is possible, and impossible times.
func (s *Settings) checkLease() error {
	var wrong []error
	switch length := utf8.RuneCountInString(s.Name); {
	case length == 0:
		wrong = append(wrong, errors.New("--node is missing, and this system does not tell its name; "+
			"expected a name that stays the same after a restart"))
	case length > longestName:
		wrong = append(wrong, fmt.Errorf("--node has %d characters; expected at most %d", length, longestName))
	case connstring.LooksLikeOne(s.Name):
		wrong = append(wrong, fmt.Errorf("--node is %s; expected a name: the worker table shows it",
			connstring.NotRepeated))
	case !printable(s.Name):
		wrong = append(wrong, fmt.Errorf("--node is %q; expected UTF-8 without control characters", s.Name))
	}
	if utf8.RuneCountInString(s.Advertise) > maxAddress || connstring.MayHoldPassword(s.Advertise) ||
		!printable(s.Advertise) {
		wrong = append(wrong, fmt.Errorf("--advertise is %s; expected an address of at most %d characters, "+
			"such as HOST:PORT", connstring.Shown(s.Advertise), maxAddress))
	}
	if s.Window < namespace.ShortestWindow || s.Window > namespace.LongestWindow {
		wrong = append(wrong, fmt.Errorf("--window is %v; expected %v to %v", s.Window, namespace.ShortestWindow,
			namespace.LongestWindow))
	}
	if s.DrainTimeout < 0 {
		wrong = append(wrong, fmt.Errorf("--drain-timeout is %v; expected 0 or more", s.DrainTimeout))
	}
	return errors.Join(wrong...)
}
