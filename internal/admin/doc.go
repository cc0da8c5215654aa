// Package admin serves HTTP for operators: metrics, probes and a status page. It changes nothing anywhere.
//
// A [report.State] is made at most a hundred times a second, for all who ask, and the first page and its fragment once
// a second.
//
//	node ──▶ report.State ───┬─▶ metrics.go   GET /metrics: each row of metrics_table.go
//	                         ├─▶ probes.go    GET /livez, /readyz, /readyz/ids, /readyz/id-database
//	                         └─▶ page.go      GET /, /fragment, /workers?from=N
//	node ──▶ History, Decode ───▶ worker.go   GET /worker/N; page_decoder.go: /decode?id=N
//
//	sentence.go   the state in one sentence          warnings.go     what is wrong, and what to do
//	samples.go    the last ten minutes               page_chart.go   the lines
//	page_map.go   the map of workers                 page/           templates, style, script
//	figures.go    numbers for people                 server.go       New, Serve and its limits
//	drop_oldest.go  a limited number of connections  pace.go         a limited number of requests
//	host.go       whose requests loopback answers    node.go         what a node has to answer
//
// # Invariants
//
// Each has a test of its name.
//
//  1. No request changes anything: only GET and HEAD are answered.
//  2. What a probe says comes from memory. No probe waits for the lease, a database, a client or other requests.
//  3. A metric's labels are bounded: none holds a user, a client's address, an application's name or an ID.
//  4. A client that reads slowly, or never, costs one connection of a limited number, for a limited time.
//  5. The page loads nothing from other places, and shows all its content without JavaScript.
//
// # Goroutines
//
// Serve runs the HTTP server, which has a goroutine for each connection. Another one takes a sample every two seconds.
// All end with the context of Serve.
package admin
