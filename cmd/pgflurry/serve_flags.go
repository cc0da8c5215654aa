package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/node"
	"pgflurry/outcome"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	node       node.Settings
	datacenter string
	listenMode string
	logs       logSettings
	config     string // name of the file, which configure reads
	checkOnly  bool
}

// add adds all flags to a command.
func (o *serveOptions) add(f *pflag.FlagSet) {
	nodeFlags(f, &o.node)
	f.StringVar(&o.datacenter, "datacenter", "",
		"`NUMBER` of this node's datacenter, where the layout has bits for it: only its workers are taken")
	f.StringVar(&o.logs.level, "log-level", "info",
		"lowest level that is logged to standard error: debug, info, warn or error")
	o.logs.formatFlag(f)
	f.StringVar(&o.listenMode, "listen-mode", "0777",
		"`MODE` of the file of --listen, if that is a Unix socket: who on this machine may connect, in octal")
	f.StringVar(&o.config, configFlag, "", "`FILE` with values for flags that neither the command line nor "+
		`the environment gives: TOML, a line such as window = "60s" for each`)
	f.BoolVar(&o.checkOnly, "check-config", false,
		"check flags, environment and file, print all errors or else the settings, and end; "+
			"nothing is connected or opened")
	mayChange(f, "databases", "log-level",
		"max-connections", "max-logins", "max-logins-per-address", "login-timeout", "client-tls-timeout",
		"id-auth", "id-auth-file", "id-auth-max-age", "max-id-sessions", "id-idle-timeout", "id-segments",
		"client-tls", "client-tls-cert", "client-tls-key", "client-tls-ca", "client-auth",
		"upstream-tls", "upstream-tls-ca", "upstream-tls-cert", "upstream-tls-key")
	annotate(f, "check-config", commandLineOnly, "is for one look")
	collect(f)
}

// settings returns the settings of the node. c collects all errors in them.
func (o *serveOptions) settings(c *configuration) node.Settings {
	s := o.node
	s.Version = version()
	s.SecretFiles = c.secrets
	refuseEmpty(c)
	var noNumber error
	s.Datacenter, noNumber = numberOf("datacenter", o.datacenter, "any")
	var noMode error
	s.ListenMode, noMode = modeOf("listen-mode", o.listenMode)
	c.check(errors.Join(s.Check(), noNumber, noMode, o.logs.check()))
	return s
}

// refuseEmpty refuses an empty text where the default is none. A variable of a script that is not set would otherwise
// switch TLS to the upstream off, and say nothing.
func refuseEmpty(c *configuration) {
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.DefValue != "" && f.Value.String() == "" && !c.failed[f.Name] {
			c.refuse(f.Name, saysNothing(f))
		}
	})
}

// modeOf parses the mode of a file.
func modeOf(flag, text string) (fs.FileMode, error) {
	mode, err := strconv.ParseUint(text, 8, 16)
	if err != nil || mode == 0 || mode > 0o777 {
		return 0, outcome.As(outcome.Usage, fmt.Errorf(
			"--%s is %s; expected a mode in octal, such as 0777 or 0770", flag, connstring.Shown(text)))
	}
	return fs.FileMode(mode), nil
}

// nodeFlags adds the flags of a node.
func nodeFlags(f *pflag.FlagSet, s *node.Settings) {
	s.Host = hostname()
	f.StringVar(&s.Listen, "listen", defaultListen, "address for clients: HOST:PORT, or the path of a Unix socket")
	f.StringVar(&s.Advertise, "advertise", "",
		"address that others see in the worker table: HOST:PORT, for people alone "+
			"(default: where it listens, with this machine's name for every interface)")
	f.StringVar(&s.Upstream, "upstream", "",
		"PostgreSQL or pooler behind the proxy: HOST:PORT, a Unix socket, or its directory, with or without :PORT. "+
			"Separate several by commas: a connection goes to the first that takes it (required)")
	f.BoolVar(&s.UnixUpstreamTrustsClients, "unix-upstream-trusts-clients", false,
		"let every client use a Unix socket of --upstream, even if PostgreSQL asks it for no password. "+
			"With the method peer it then is the account that the proxy runs as")
	f.BoolVar(&s.UpstreamPrimary, "upstream-primary", false,
		"connect only to the host of --upstream that says it is the primary, and end sessions when it no longer is")
	f.StringVar(&s.LeaseDatabase, "lease-database", "",
		"connection string of the database with the worker table (required)")
	f.StringSliceVar(&s.Databases, "databases", nil,
		"databases whose sessions are answered (default: the lease database)")
	f.StringVar(&s.Name, "node", hostname(),
		"name of this node, the same after a restart: it prefers its own last worker")
	f.DurationVar(&s.Window, "window", 60*time.Second,
		"how far ahead the lease reserves, and so how long PostgreSQL may be away; "+
			"at most the namespace's max_window")
	f.DurationVar(&s.DrainTimeout, "drain-timeout", 30*time.Second,
		"how long open transactions may go on after the first signal to stop")
	f.StringVar(&s.Admin.Listen, "admin-listen", "",
		"address for metrics, probes and the status page: HOST:PORT, or the path of a Unix socket (default none)")
	f.BoolVar(&s.Admin.Pprof, "admin-pprof", false, "add Go's profiles of this process to it, below /debug/pprof/")
	limitFlags(f, &s.Limits)
	tlsFlags(f, &s.TLS)
	idFlags(f, &s.IDDatabase)
}

// limitFlags adds the limits on clients.
func limitFlags(f *pflag.FlagSet, l *node.Limits) {
	f.IntVar(&l.MaxConnections, "max-connections", 0,
		"sessions that may be open at once, each a connection to PostgreSQL "+
			"(default no limit; PostgreSQL has its own). "+
			"If all places are taken, a client that has not logged in gives way to another one. "+
			"Not counted: requests to cancel a statement, at most 32 at once")
	f.IntVar(&l.MaxLogins, "max-logins", 512,
		"connections that may be open at once and have not logged in; 0 for half of all that descriptors allow. "+
			"If all places are taken, the oldest connection of the address with most of them gives way. "+
			"The oldest of all gives way, too, once it has had 5 s")
	f.IntVar(&l.MaxLoginsPerAddress, "max-logins-per-address", 256,
		"the same for each address of clients (of IPv6, 64 bits); 0 for no limit of its own. "+
			"Behind a load balancer all clients have one address: set it as high as --max-logins there")
	f.DurationVar(&l.LoginTimeout, "login-timeout", 60*time.Second,
		"how long a client may take from connecting to the end of its login, "+
			"when PostgreSQL is ready for its first query")
	f.DurationVar(&l.ClientTLSTimeout, "client-tls-timeout", 5*time.Second,
		"how long a client may take for the handshake of TLS")
}

// tlsFlags adds the flags of TLS.
func tlsFlags(f *pflag.FlagSet, t *node.TLS) {
	f.StringVar(&t.Client, "client-tls", "",
		"TLS of clients: disable, allow or require (default allow with --client-tls-cert, else disable). "+
			"With --upstream-tls, hostssl in pg_hba.conf sees TLS in any case: only require keeps plain clients out")
	f.StringVar(&t.ClientCert, "client-tls-cert", "",
		"file with the proxy's certificate and its chain, PEM; SIGHUP reads it again, as all files of TLS")
	f.StringVar(&t.ClientKey, "client-tls-key", "", "file with the key of that certificate")
	f.StringVar(&t.ClientCA, "client-tls-ca", "",
		"file with CAs: each client must show a certificate of one of them (with --client-tls require)")
	f.StringVar(&t.Auth, "client-auth", "relay", "relay: PostgreSQL and the client log in past the proxy; "+
		"password: the proxy asks for the password and logs in (with --client-tls require)")
	f.StringVar(&t.Upstream, "upstream-tls", "disable",
		"TLS to the upstream, as libpq's sslmode: disable, prefer, require, verify-ca or verify-full")
	f.StringVar(&t.UpstreamCA, "upstream-tls-ca", "",
		`file with the CAs that may sign the upstream's certificate, or "system"`)
	f.StringVar(&t.UpstreamCert, "upstream-tls-cert", "",
		"file with the certificate shown to an upstream that asks for one, for every client the same")
	f.StringVar(&t.UpstreamKey, "upstream-tls-key", "", "file with the key of that certificate")
}

// idFlags adds the flags of the ID database.
func idFlags(f *pflag.FlagSet, d *node.IDDatabase) {
	f.StringVar(&d.Name, "id-database", "",
		"`NAME` of a database that needs no PostgreSQL: its sessions get IDs from memory, and nothing else "+
			"(default none). No real database may have the name")
	f.StringVar(&d.Auth, "id-auth", "", "how its clients log in, as in pg_hba.conf: scram-sha-256, cert or trust. "+
		"cert needs --client-tls-ca, and a name in the certificate is the user. "+
		"trust works on loopback or a Unix socket only (default scram-sha-256)")
	f.StringVar(&d.AuthFile, "id-auth-file", "",
		"file with who may log in to it, in the format of PgBouncer's userlist "+
			`(default pgflurry.client of the lease database, which "pgflurry clients" changes)`)
	f.DurationVar(&d.AuthMaxAge, "id-auth-max-age", 0,
		"how long logins to it go on if those accounts cannot be read again; 0 for as long as the proxy runs")
	f.IntVar(&d.MaxSessions, "max-id-sessions", node.UsualIDSessions,
		"sessions of it that may be open at once; 0 for no limit")
	f.DurationVar(&d.IdleTimeout, "id-idle-timeout", 0,
		"end a session of it that has sent nothing for so long; 0 for never")
	f.StringVar(&d.Segments, "id-segments", "",
		"which of --databases gives it the numbers of tags, for next_segment() "+
			"(default the only one; none if there are several)")
}

// numberOf parses the number of a flag. An empty text gives nil, which means otherwise.
func numberOf(flag, text, otherwise string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	number, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, outcome.As(outcome.Usage, fmt.Errorf(
			"--%s is %s; expected a number, such as 3, or nothing for %s", flag, connstring.Shown(text), otherwise))
	}
	given := int(number)
	return &given, nil
}

// hostname is the default name of a node. If the system does not know it, the name is empty, and --node is required.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
