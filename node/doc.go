// Package node is one process of the product: proxy, lease, generator, segments and watch, joined.
// Serve and demo run it.
//
//	                           ┌──▶ idserver ◀── accounts ── read every five seconds
//	clients ──▶ listener ──▶ proxy ─────────────────────────────▶ upstream
//	                           │ asks                                ▲   ▲
//	             ┌─────────────┼─────────────┐                       │   │
//	             ▼             ▼             ▼                       │   │
//	         generator    permissions     segments ── blocks ────────┘   │
//	             ▲             ▲                                         │
//	             │ grants      └── watch ── looks every two seconds ─────┘
//	           keeper ── acquires, renews, releases ──▶ lease database
//	                                                         ▲
//	operators ──▶ admin ──▶ State ◀── what all of these know │
//	                          ▲ ◀──── survey ── reads who holds which worker
//
//	settings.go      what a node does             limits.go, tls.go    its limits and its TLS
//	address.go       addresses of both sides      tls_files.go         certificates and CAs
//	node.go          New, Run: the joins          listen.go            the clients' side
//	namespace.go     which ID space               supply.go            generator, keeper and watch
//	ids.go           IDs, once there are any      reload.go            what may change while it runs
//	databases.go     the list of databases, and what works for each while it is listed
//	permissions.go   what each database's sessions may get from memory
//	watch.go         may this database be answered, and findings.go, what the log has of it
//	session.go       the node's own session to a database, and meaning.go, what its failure says
//	primary.go       which host of the upstream is the primary, where only that one will do
//	admin.go         the operators' side
//	flood.go         the log                      clock*.go            the machine's clocks
//	id_database.go   the ID database, its settings  id_join.go         its server, joined
//	id_accounts.go   who may log in to it         id_segments.go       whose numbers it gives
//	id_server.go     what it takes from PostgreSQL  id_console.go      what SHOW tells in it
//	id_unavailable.go  what a client of it is told who gets no ID
//	descriptors*.go  how many descriptors the process may have
//	state*.go        what operators are told, from memory
//	survey.go        the worker table, read for them    history.go    who had a worker, asked for them
//
// # The beginning
//
// New checks the settings, reads the files of TLS, and opens the listeners last. Run then starts everything at once.
// Clients are relayed from the first moment, and those of the ID database may log in once its accounts were read.
// IDs come from memory once three things have happened, each in its own
// time: the namespace was read, a worker was leased, and the watch has judged the database.
//
// # What fails without an end, and what ends a node
//
// A server that is down, a missing migration, a lost lease, a copy until somebody says what it is: the node relays,
// logs it, and tries again. The function in the database answers meanwhile.
//
// What no waiting mends ends Run with an error: a namespace that the settings do not fit (Window, Datacenter), a
// database in the first list of another namespace or with another one's function worker, a lease database that changed
// its namespace, a real database with the name of the ID database. After the first look at a database a change only
// ends its permission. A database that is listed later ends nothing either: it gets no permission, and the log has an
// error.
//
// # What may change
//
// Reload takes limits, TLS, the rules of the ID database, the list of databases and the lease role's password from new
// settings, all or nothing. Sessions stay. What connects from then on meets the new limits and certificates. A database
// that is added is watched, and its sessions are answered once it was judged, if they began after it was listed the
// first time. One that is removed loses its permission before Reload returns, and then its watch and its source of
// segments. The start uses the same list.
//
// # The end
//
//  1. Proxy and ID database take no more sessions, and send those away that are between transactions. They wait for the
//     others up to DrainTimeout. IDs are still given.
//  2. The generator is sealed.
//  3. The worker is released.
//  4. The listener is closed: until then requests to cancel a statement are passed on.
//  5. Operators are answered no longer.
//
// A socket that the next process shares (Settings.Listener) is closed before all this. What waits in it, cancel
// requests too, is the next process's. Who was accepted before becomes a session first, so that nobody is refused.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. New starts nothing: where it fails, no listener, no connection and no goroutine is left.
//  2. Clients are relayed whether or not there is a lease, a namespace or a lease database.
//  3. A failing look decides about the permission by what it means: a refusal ends it at once, a server that is away
//     never does, three looks without an answer end it.
//  4. Run ends by itself only where no waiting mends the cause, and its error names the setting or the database.
//  5. IDs are given until the last session is drained; only then the worker is released.
//  6. When Run has returned, no goroutine, no connection and no listener is left, and every line was handed to the
//     log's handler. How far its reader reads is the reader's affair: nobody here waits for it.
//  7. Nodes in one process share nothing: each has a worker, a clock and a log of its own.
//  8. State waits for nobody: not for the lease database, nor for the upstream, nor for whoever asks them just now.
//  9. A Reload with an error changes nothing. One without ends no session.
//
// # Goroutines
//
// Run starts one for each part and waits for all: Serve of the proxy, with its own for the sessions; supply, which runs
// the keeper and starts the watch, one goroutine a database, and the survey; the reader of accounts; a source of
// segments, with its own, a database; with UpstreamPrimary the watch over the hosts, with one a host. Operators ask in
// goroutines of their own, and one History at a time opens a connection. Nothing here reads flags. The environment is
// read by the clock of a program that is built for tests (clock_steered.go), and by pgx for what a connection string
// leaves out.
package node
