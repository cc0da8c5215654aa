// Package load has clients of all kinds draw IDs and write rows while faults happen. It reports what they saw.
//
//	l := load.Start(t, load.Targets{…}, load.Settings{})
//	l.Mark("kill -9 of the primary")
//	…                                   // the fault
//	l.Settled()                         // waits until all is well, and compares
//	l.Stop()
//	report := l.Report()                // report.Markdown(), or as JSON
//
// Every ID that reaches a client is recorded and compared with all others. A client works as an application does: with
// a session of pgx, with psql (libpq), JDBC or a pool. It connects again when its session ends. Probes are clients that
// measure how long a service is away. They ask often during a fault, and seldom between faults. Writers are clients
// that insert numbered rows, so a lost acknowledged commit is found. Package meter defines each figure.
package load
