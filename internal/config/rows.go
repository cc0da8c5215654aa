package config

import "time"

// UsualListen is the default address for clients.
const UsualListen = "127.0.0.1:6432"

// A Row is one setting. Flag, environment variable, key of the file, help, completion and the pages are derived from
// it.
type Row struct {
	// Name is the flag without its dashes, and the key in the file.
	Name string
	// To is where the value goes. The pointer's type says what the setting takes: a text, a number, true or false, a
	// duration, or a list.
	To func(*Given) any
	// Default is what To holds if nobody gives a value. Nil: the zero value.
	Default any
	// Help says what the setting means. A word in backquotes names the value.
	Help string
	// Group is the heading in the help; empty for the first one.
	Group string
	// Reload says what a SIGHUP changes in the running process.
	Reload Reload
	// Secret settings may hold a password. A file can give them, and nothing shows them.
	Secret bool
	// File says that the value is the name of a file or a folder.
	File bool
	// Enum lists the values that a shell offers.
	Enum []string
	// Number says that a file may write the text as a number.
	Number bool
	// Needs is the setting without which this one has no effect.
	Needs string
	// CommandLineOnly says why neither environment nor file may give it; empty: they may.
	CommandLineOnly string
}

// Reload is what a SIGHUP changes.
type Reload int

const (
	// NeedsRestart means nothing.
	NeedsRestart Reload = iota
	// Reloads means that a new value takes effect.
	Reloads
	// ReloadsPassword means that only a new password in the value takes effect.
	ReloadsPassword
)

// The groups of help, in order. Rows without a group come first.
const (
	IDDatabaseGroup = "ID database: sessions without PostgreSQL"
	LimitsGroup     = "Limits on clients"
	TLSGroup        = "TLS and logins"
	OperationGroup  = "Configuration, log and operation"
)

// Groups lists them.
var Groups = []string{IDDatabaseGroup, LimitsGroup, TLSGroup, OperationGroup}

// Rows are the settings of serve. host is the name of this machine.
func Rows(host string) []Row {
	return []Row{
		{
			Name: "listen", To: func(g *Given) any { return &g.Listen }, Default: UsualListen,
			File: true,
			Help: "address for clients: HOST:PORT, or the path of a Unix socket",
		},
		{
			Name: "listen-mode", To: func(g *Given) any { return &g.listenMode }, Default: "0777",
			Help: "`MODE` of the file of --listen, if that is a Unix socket: who on this machine may connect, in octal",
		},
		{
			Name: "advertise", To: func(g *Given) any { return &g.Advertise },
			Help: "address that others see in the worker table: HOST:PORT, for people alone " +
				"(default: where it listens, with this machine's name for every interface)",
		},
		{
			Name: "upstream", To: func(g *Given) any { return &g.Upstream },
			File: true,
			Help: "PostgreSQL or pooler behind the proxy: HOST:PORT, a Unix socket, or its directory, with " +
				"or without :PORT. " +
				"Separate several by commas: a connection goes to the first that takes it (required)",
		},
		{
			Name: "unix-upstream-trusts-clients", To: func(g *Given) any { return &g.UnixUpstreamTrustsClients },
			Help: "let every client use a Unix socket of --upstream, even if PostgreSQL asks it for no password. " +
				"With the method peer it then is the account that the proxy runs as",
		},
		{
			Name: "upstream-primary", To: func(g *Given) any { return &g.UpstreamPrimary },
			Help: "connect only to the host of --upstream that says it is the primary, and end sessions when " +
				"it no longer is",
		},
		{
			Name: "lease-database", To: func(g *Given) any { return &g.LeaseDatabase },
			Reload: ReloadsPassword, Secret: true,
			Help: "connection string of the database with the worker table (required)",
		},
		{
			Name: "lease-password-command", To: func(g *Given) any { return &g.PasswordCommand },
			Help: "`COMMAND` for sh that writes the password of the lease role, if that soon ends. " +
				"A second line, such as 10m, says for how long it is kept",
		},
		{
			Name: "databases", To: func(g *Given) any { return &g.Databases },
			Reload: Reloads,
			Help:   "databases whose sessions are answered (default: the lease database)",
		},
		{
			Name: "node", To: func(g *Given) any { return &g.Name }, Default: host,
			Help: "name of this node, the same after a restart: it prefers its own last worker",
		},
		{
			Name: "datacenter", To: func(g *Given) any { return &g.datacenter },
			Number: true,
			Help:   "`NUMBER` of this node's datacenter, where the layout has bits for it: only its workers are taken",
		},
		{
			Name: "window", To: func(g *Given) any { return &g.Window }, Default: 60 * time.Second,
			Help: "how far ahead the lease reserves, and so how long PostgreSQL may be away; " +
				"at most the namespace's max_window",
		},
		{
			Name: "drain-timeout", To: func(g *Given) any { return &g.DrainTimeout }, Default: 30 * time.Second,
			Help: "how long open transactions may go on after the first signal to stop",
		},
		{
			Name: "admin-listen", To: func(g *Given) any { return &g.AdminListen },
			Group: OperationGroup, File: true,
			Help: "address for metrics, probes and the status page: HOST:PORT, or the path of a Unix socket " +
				"(default none)",
		},
		{
			Name: "admin-pprof", To: func(g *Given) any { return &g.Admin.Pprof },
			Group: OperationGroup,
			Help:  "add Go's profiles of this process to it, below /debug/pprof/",
		},
		{
			Name: "log-level", To: func(g *Given) any { return &g.logLevel }, Default: "info",
			Group: OperationGroup, Reload: Reloads, Enum: []string{"debug", "info", "warn", "error"},
			Help: "lowest level that is logged to standard error: debug, info, warn or error",
		},
		{
			Name: "log-format", To: func(g *Given) any { return &g.LogFormat }, Default: "text",
			Group: OperationGroup, Enum: []string{"text", "json"},
			Help: "how a line of the log is written: text (key=value) or json",
		},
		{
			Name: "config", To: func(g *Given) any { return &g.File },
			Group: OperationGroup, File: true,
			Help: "`FILE` with values for flags that neither the command line nor " +
				`the environment gives: TOML, a line such as window = "60s" for each`,
		},
		{
			Name: "check-config", To: func(g *Given) any { return &g.CheckOnly },
			Group: OperationGroup, CommandLineOnly: "is for one look",
			Help: "check flags, environment and file, print all errors or else the settings, and end; " +
				"nothing is connected or opened",
		},
		{
			Name: "max-connections", To: func(g *Given) any { return &g.Limits.MaxConnections },
			Group: LimitsGroup, Reload: Reloads,
			Help: "sessions that may be open at once, each a connection to PostgreSQL " +
				"(default no limit; PostgreSQL has its own). " +
				"If all places are taken, a client that has not logged in gives way to another one. " +
				"Not counted: requests to cancel a statement, at most 32 at once",
		},
		{
			Name: "max-logins", To: func(g *Given) any { return &g.Limits.MaxLogins }, Default: 512,
			Group: LimitsGroup, Reload: Reloads,
			Help: "connections that may be open at once and have not said what they want; 0 for half of all that " +
				"descriptors allow. A client of the ID database counts until it has logged in. " +
				"If all places are taken, the oldest connection of the address with most of them gives way. " +
				"The oldest of all gives way, too, once it has had 5 s",
		},
		{
			Name: "max-logins-per-address", Default: 256,
			To:    func(g *Given) any { return &g.Limits.MaxLoginsPerAddress },
			Group: LimitsGroup, Reload: Reloads,
			Help: "the same for each address of clients (of IPv6, 64 bits); 0 for no limit of its own. " +
				"Behind a load balancer all clients have one address: set it as high as --max-logins there",
		},
		{
			Name: "max-upstream-logins", Default: 64,
			To:    func(g *Given) any { return &g.Limits.MaxUpstreamLogins },
			Group: LimitsGroup, Reload: Reloads,
			Help: "clients that may be logging in at PostgreSQL at once; 0 for an eighth of all that descriptors " +
				"allow. Others wait up to 3 s, then they get 53300 and have to come again. " +
				"So a PostgreSQL that is slow to let clients in finishes the logins that it has begun",
		},
		{
			Name: "login-timeout", To: func(g *Given) any { return &g.Limits.LoginTimeout }, Default: 60 * time.Second,
			Group: LimitsGroup, Reload: Reloads,
			Help: "how long a client may take from connecting to the end of its login, " +
				"when PostgreSQL is ready for its first query",
		},
		{
			Name: "client-tls-timeout", Default: 5 * time.Second,
			To:    func(g *Given) any { return &g.Limits.ClientTLSTimeout },
			Group: LimitsGroup, Reload: Reloads,
			Help: "how long a client may take for the handshake of TLS",
		},
		{
			Name: "client-tls", To: func(g *Given) any { return &g.TLS.Client },
			Group: TLSGroup, Reload: Reloads, Enum: []string{ClientDisable, ClientAllow, ClientRequire},
			Help: "TLS of clients: disable, allow or require (default allow with --client-tls-cert, else disable). " +
				"With --upstream-tls, hostssl in pg_hba.conf sees TLS in any case: only require keeps " +
				"plain clients out",
		},
		{
			Name: "client-tls-cert", To: func(g *Given) any { return &g.TLS.ClientCert },
			Group: TLSGroup, Reload: Reloads, File: true,
			Help: "file with the proxy's certificate and its chain, PEM; SIGHUP reads it again, as all files of TLS",
		},
		{
			Name: "client-tls-key", To: func(g *Given) any { return &g.TLS.ClientKey },
			Group: TLSGroup, Reload: Reloads, File: true,
			Help: "file with the key of that certificate",
		},
		{
			Name: "client-tls-ca", To: func(g *Given) any { return &g.TLS.ClientCA },
			Group: TLSGroup, Reload: Reloads, File: true,
			Help: "file with CAs: each client must show a certificate of one of them (with --client-tls require)",
		},
		{
			Name: "client-auth", To: func(g *Given) any { return &g.TLS.Auth }, Default: "relay",
			Group: TLSGroup, Reload: Reloads, Enum: []string{AuthRelay, AuthPassword},
			Help: "relay: PostgreSQL and the client log in past the proxy; " +
				"password: the proxy asks for the password and logs in (with --client-tls require)",
		},
		{
			Name: "upstream-tls", To: func(g *Given) any { return &g.TLS.Upstream }, Default: "disable",
			Group: TLSGroup, Reload: Reloads,
			Enum: []string{"disable", "prefer", "require", "verify-ca", "verify-full"},
			Help: "TLS to the upstream, as libpq's sslmode: disable, prefer, require, verify-ca or verify-full",
		},
		{
			Name: "upstream-tls-ca", To: func(g *Given) any { return &g.TLS.UpstreamCA },
			Group: TLSGroup, Reload: Reloads, File: true,
			Help: `file with the CAs that may sign the upstream's certificate, or "system"`,
		},
		{
			Name: "upstream-tls-cert", To: func(g *Given) any { return &g.TLS.UpstreamCert },
			Group: TLSGroup, Reload: Reloads, File: true,
			Help: "file with the certificate shown to an upstream that asks for one, for every client the same",
		},
		{
			Name: "upstream-tls-key", To: func(g *Given) any { return &g.TLS.UpstreamKey },
			Group: TLSGroup, Reload: Reloads, File: true,
			Help: "file with the key of that certificate",
		},
		{
			Name: "id-database", To: func(g *Given) any { return &g.IDDatabase.Name },
			Group: IDDatabaseGroup,
			Help: "`NAME` of a database that needs no PostgreSQL: its sessions get IDs from memory, and nothing else " +
				"(default none). No real database may have the name",
		},
		{
			Name: "id-auth", To: func(g *Given) any { return &g.IDDatabase.Auth },
			Group: IDDatabaseGroup, Reload: Reloads, Enum: []string{IDAuthSCRAM, IDAuthCert, IDAuthTrust},
			Needs: "id-database",
			Help: "how its clients log in, as in pg_hba.conf: scram-sha-256, cert or trust. " +
				"cert needs --client-tls-ca, and a name in the certificate is the user. " +
				"trust works on loopback or a Unix socket only (default scram-sha-256)",
		},
		{
			Name: "id-auth-file", To: func(g *Given) any { return &g.IDDatabase.AuthFile },
			Group: IDDatabaseGroup, Reload: Reloads, File: true, Needs: "id-database",
			Help: "file with who may log in to it, in the format of PgBouncer's userlist " +
				`(default pgflurry.client of the lease database, which "pgflurry clients" changes)`,
		},
		{
			Name: "id-auth-max-age", To: func(g *Given) any { return &g.IDDatabase.AuthMaxAge },
			Group: IDDatabaseGroup, Reload: Reloads, Needs: "id-database",
			Help: "how long logins to it go on if those accounts cannot be read again; 0 for as long as the proxy runs",
		},
		{
			Name: "max-id-sessions", Default: UsualIDSessions,
			To:    func(g *Given) any { return &g.IDDatabase.MaxSessions },
			Group: IDDatabaseGroup, Reload: Reloads, Needs: "id-database",
			Help: "sessions of it that may be open at once; 0 for no limit",
		},
		{
			Name: "id-idle-timeout", To: func(g *Given) any { return &g.IDDatabase.IdleTimeout },
			Group: IDDatabaseGroup, Reload: Reloads, Needs: "id-database",
			Help: "end a session of it that has sent nothing for so long; 0 for never",
		},
		{
			Name: "id-segments", To: func(g *Given) any { return &g.IDDatabase.Segments },
			Group: IDDatabaseGroup, Reload: Reloads, Needs: "id-database",
			Help: "which of --databases gives it the numbers of tags, for next_segment() " +
				"(default the only one; none if there are several)",
		},
	}
}
