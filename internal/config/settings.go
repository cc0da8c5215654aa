package config

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/account"
	"pgflurry/internal/connect"
	"pgflurry/internal/namespace"
)

// maxAddress is the longest address in characters, as the worker table has it.
const maxAddress = 255

// Settings say what one node does. Errors name a setting by the flag of serve that gives it: Window is --window.
type Settings struct {
	// At is the address for clients (--listen). Required without Listener.
	At Address
	// Listener is an open socket that is shared with the next process, such as one of a service manager. Then the node
	// does not open At. The node takes it over, even if it fails. Nil: none.
	Listener net.Listener
	// ListenMode is the mode of the Unix socket at At: who on this machine may connect. Zero: 0777, as
	// PostgreSQL.
	ListenMode fs.FileMode
	// Advertise is the address of the node that others see in the worker table, at most 255 characters. Empty: that of
	// the listener, with Host if it listens on every interface.
	Advertise string
	// Host is the name of this machine. Empty: not known.
	Host string
	// Hosts are PostgreSQL or a pooler (--upstream). A connection goes to the first that takes it. At least one is
	// required.
	Hosts []Address
	// Upstream is their text, for people.
	Upstream string
	// UpstreamPrimary sends connections only to the host that says it is the primary, and ends them when it no longer
	// is.
	UpstreamPrimary bool
	// UnixUpstreamTrustsClients lets clients use a Unix socket of Hosts with the rights of the account that the node
	// runs as. The method peer of pg_hba.conf takes each of them for it.
	UnixUpstreamTrustsClients bool
	// Lease is the database with the worker table, and the role there (--lease-database). Required.
	Lease Lease
	// ReadLease reads Lease again, after PostgreSQL has refused its password: there may be another one by now. Nil: the
	// password stays.
	ReadLease func() (Lease, error)
	// PasswordCommand is a command line for sh that writes the password of that role (connect.PasswordCommand);
	// empty: the connection string has it, or none is needed.
	PasswordCommand string
	// Databases are those whose sessions are answered. Empty: the lease database, which Complete fills in.
	Databases []string
	// LeaseDatabaseAlone: nobody has listed Databases. A reload then keeps to the lease database that is in force.
	LeaseDatabaseAlone bool
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
	// Accounts is what IDDatabase.AuthFile holds. Nil: the node reads it itself.
	Accounts *account.List
	// TLS protects both sides. The zero value is plain text.
	TLS TLS
	// Keys is what the files of TLS hold.
	Keys Keys
	// SecretFiles are those that other settings were read from. The node only warns if everybody may read them.
	SecretFiles []string
	// Admin serves operators. The zero value means nobody does.
	Admin Admin
	// Survey is the pause between two readings of the worker table for State, at least 1 s. Zero: 10 s with Admin or
	// IDDatabase; without them the table is not read.
	Survey time.Duration
	// Version is that of the program, at most 255 characters. The worker table shows it.
	Version string
	// LogLevel and LogFormat are for the program, which makes Log: the lowest level that is logged, and text or json.
	LogLevel  slog.Level
	LogFormat string
	// Log gets what the node logs. Its handler must not wait for the reader of the log: all sessions would wait with
	// it, and so would the end. Nil: no log.
	Log *slog.Logger
	// LinesLost is how many lines the handler has dropped instead of waiting. Nil: it drops none.
	LinesLost func() int64
}

// longestName is the longest name of a node in characters, as its column has it.
const longestName = 255

// Admin is HTTP for operators: metrics, probes and a status page. The zero value means none.
type Admin struct {
	// At is its address (--admin-listen). Zero: none.
	At Address
	// Listener is an open socket, as Settings.Listener. The node then does not open At. Nil: none.
	Listener net.Listener
	// Pprof adds Go's profiles of the process.
	Pprof bool
}

// Is says whether there is any.
func (a *Admin) Is() bool { return a.Listener != nil || a.At != Address{} }

// Lease is the connection to the lease database. The zero value is none.
type Lease struct {
	Config *pgx.ConnConfig
	url    string
}

// ParseLease reads a connection string.
func ParseLease(url string) (Lease, error) {
	config, err := connect.Parse("lease-database", url)
	if err != nil {
		return Lease{}, &Wrong{Settings: []string{"lease-database"}, Missing: url == "", error: err}
	}
	if config.Database == "" {
		config.Database = config.User // PostgreSQL's default, too
	}
	if !printable(config.Database) { // a second line in the file of the secret
		return Lease{}, wrong("lease-database", "--lease-database names a database with a control character; "+
			"expected UTF-8 without any, and one line if it is in a file")
	}
	connect.ForLease(config)
	return Lease{config, url}, nil
}

// Database is its name; empty: not known.
func (l Lease) Database() string {
	if l.Config == nil {
		return ""
	}
	return l.Config.Database
}

// SameButPassword says whether two differ in their passwords at most.
func (l Lease) SameButPassword(other Lease) bool { return connect.SameButPassword(l.url, other.url) }

// CloseHandedOver closes the listeners that were opened elsewhere.
func (s *Settings) CloseHandedOver() {
	for _, listener := range []net.Listener{s.Listener, s.Admin.Listener} {
		if listener != nil {
			listener.Close()
		}
	}
}

// Complete fills in defaults, and reports all values that are missing, impossible, or contradict each other.
func (s *Settings) Complete() error {
	var all []error
	if s.Listener == nil && (s.At == Address{}) {
		all = append(all, missing("listen", "; expected HOST:PORT or the path of a Unix socket"))
	}
	if len(s.Hosts) == 0 {
		all = append(all, missing("upstream", "; expected HOST:PORT or the path of a Unix socket"))
	}
	if s.Lease.Config == nil {
		all = append(all, missing("lease-database", ": give the URL of the database, "+connect.Form))
	}
	return errors.Join(errors.Join(all...), s.complete())
}

// complete is Complete for values that Parse has refused already if they are missing.
func (s *Settings) complete() error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.LinesLost == nil {
		s.LinesLost = func() int64 { return 0 }
	}
	lease := s.Lease.Database()
	all := errors.Join(s.checkDatabases(), s.checkLease(),
		s.Limits.check(), s.TLS.complete(), s.checkOwnAccount(), s.checkIDDatabase(lease))
	if all == nil && len(s.Databases) == 0 {
		s.Databases, s.LeaseDatabaseAlone = []string{lease}, true
	}
	return all
}

// checkDatabases refuses impossible names.
func (s *Settings) checkDatabases() error {
	for _, name := range s.Databases { // names are logged, so none may be a connection string
		switch {
		case name == "":
			return wrong("databases", "--databases has an empty name; expected names of databases, "+
				"such as app,reports, or nothing for the lease database")
		case connect.LooksLikeOne(name):
			return wrong("databases", "--databases has %s; expected names of databases", connect.NotRepeated)
		case !printable(name):
			return wrong("databases", "--databases has %q; expected UTF-8 without control characters", name)
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
	var all []error
	switch length := utf8.RuneCountInString(s.Name); {
	case length == 0:
		all = append(all, missing("node", ", and this system does not tell its name; "+
			"expected a name that stays the same after a restart"))
	case length > longestName:
		all = append(all, wrong("node", "--node has %d characters; expected at most %d", length, longestName))
	case connect.LooksLikeOne(s.Name):
		all = append(all, wrong("node", "--node is %s; expected a name: the worker table shows it",
			connect.NotRepeated))
	case !printable(s.Name):
		all = append(all, wrong("node", "--node is %q; expected UTF-8 without control characters", s.Name))
	}
	if utf8.RuneCountInString(s.Advertise) > maxAddress || connect.MayHoldPassword(s.Advertise) ||
		!printable(s.Advertise) {
		all = append(all, wrong("advertise", "--advertise is %s; expected an address of at most %d characters, "+
			"such as HOST:PORT", connect.Shown(s.Advertise), maxAddress))
	}
	if s.Window < namespace.ShortestWindow || s.Window > namespace.LongestWindow {
		all = append(all, wrong("window", "--window is %v; expected %v to %v", s.Window, namespace.ShortestWindow,
			namespace.LongestWindow))
	}
	if s.DrainTimeout < 0 {
		all = append(all, wrong("drain-timeout", "--drain-timeout is %v; expected 0 or more", s.DrainTimeout))
	}
	return errors.Join(all...)
}
