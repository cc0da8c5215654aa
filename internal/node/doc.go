// Package node joins proxy, lease, generator, segments and watch into one process. The commands serve and demo run it.
//
//	                           ┌──▶ idserver ◀── accounts ── read every five seconds
//	clients ──▶ listener ──▶ proxy ─────────────────────────────▶ upstream
//	                           │ asks                                ▲   ▲
//	             ┌─────────────┼─────────────┐                       │   │
//	             ▼             ▼             ▼                       │   │
//	         generator       watch ◀────── segments ── blocks ───────┘   │
//	             ▲             │                                         │
//	             │ grants      └── looks every two seconds ──────────────┘
//	           keeper ── acquires, renews, releases ──▶ lease database
//	                                                         ▲
//	operators ──▶ admin ──▶ State ◀── what all of these know │
//	                          ▲ ◀──── survey ── reads who holds which worker
//
//	node.go          New, Run: the joins          listen*.go           the clients' side
//	limits.go        limits of the proxy          tls.go, plain_text.go  what TLS does not protect
//	address.go       where others reach the node
//	supply.go        generator and keeper (package holder)
//	ids.go           IDs, once there are any      reload.go            what may change while it runs
//	upstream.go      how the lease role reaches the upstream
//	primary.go       its hosts, and which is the primary, with --upstream-primary
//	admin.go         the operators' side
//	clock*.go        the machine's clocks
//	id_join.go       the ID database, joined
//	id_segments.go   whose numbers it gives
//	id_console.go    the output of SHOW in it       id_unavailable.go  the error of a client that gets no ID
//	descriptors*.go  how many descriptors the process may have
//	state*.go        what operators see, from memory
//	survey.go        reads the worker table for them    history.go    asks who had a worker
//
// # The beginning
//
// New checks the settings (package config), and opens the listeners last. Run then starts everything at once.
// It relays clients from the first moment. Clients of the ID database may log in once its accounts were read.
//
// IDs come from memory after three steps, which take their time independently of each other:
//
//   - the node has read the namespace
//   - it has leased a worker
//   - the watch has judged the database
//
// # Which faults end a node
//
// Some faults may pass: a server that is down, a missing migration, a lost lease, a copy of a database that nobody has
// classified yet. Then the node relays, logs the fault, and tries again. The function in the database answers
// meanwhile.
//
// Other faults never pass by themselves. They end Run with an error:
//
//   - The namespace does not allow the settings (Window, Datacenter).
//   - The lease database has changed its namespace.
//   - The first look at a database of the first list finds one (package watch).
//
// # The node's own connections
//
// An address may lead to another server at any time, and nothing says so. So the node asks over no old connection
// (package connect). Those of looks are replaced after 30 s at most, and each renewal of a usual window has a new one.
// A suspicion (connect.Suspicion) makes all of them old at once, and then the looks and the lease's renewal come at
// once. Replacements have one pace, however often it is raised and however many databases there are. Its reasons are:
//
//   - upstream ended a session whose client was still there
//   - a connection of the node was lost, or another server refused its login (package connect raises these)
//   - Reload
//   - another primary
//   - a look finds another place, or segments find another database
//
// # What may change
//
// Reload takes limits, TLS, the rules of the ID database, the list of databases and the lease role's password from new
// settings, all or nothing. Open sessions stay. New connections meet the new limits and certificates.
//
// # The end
//
//  1. Proxy and ID database take no new sessions, and end those that are between transactions. They wait for the others
//     up to DrainTimeout. IDs are still given.
//  2. The generator is sealed.
//  3. The worker is released.
//  4. The listener is closed. Until then the proxy passes on requests to cancel a statement.
//  5. The admin listener is closed.
//
// If the next process shares the socket (Settings.Listener), the node closes it before all this. Connections that wait
// in it, cancel requests too, belong to the next process. Connections that were accepted before become sessions first,
// so that no client is refused.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. New starts nothing: where it fails, no listener, no connection and no goroutine is left.
//  2. Clients are relayed whether or not there is a lease, a namespace or a lease database.
//  3. Run ends by itself only if the cause cannot pass, and its error names the setting or the database.
//  4. IDs are given until the last session is drained; only then the worker is released.
//  5. When Run has returned, no goroutine, no connection and no listener is left, and the log's handler has every line.
//     Run does not wait until somebody reads those lines.
//  6. Nodes in one process share nothing: each has a worker, a clock and a log of its own.
//  7. State waits for nobody: not for the lease database, the upstream, or others who ask them at that moment.
//  8. A Reload with an error changes nothing. One without ends no session.
//
// # Goroutines
//
// Run starts one for each part, and waits for all of them:
//
//   - Serve of the proxy, which starts those of the sessions
//   - one for all that asks PostgreSQL, which runs the keeper. It starts these, and waits for them:
//   - the survey, and the watch, one goroutine a database
//   - the reader of accounts
//   - a source of segments for each database, with goroutines of its own
//   - with UpstreamPrimary, the watch over the hosts, with one goroutine a host, and one that waits for another primary
//
// Operators ask in goroutines of their own, and one History at a time opens a connection. While clients wait
// for IDs, one goroutine draws for them (package draw).
//
// Nothing here reads flags. Two things read the environment: the clock of a program that is built for tests
// (clock_steered.go), and pgx for what a connection string leaves out.
package node
