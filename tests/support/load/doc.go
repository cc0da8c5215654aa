// Package load has clients of all kinds draw IDs and write rows while faults happen, and tells what they saw.
//
//	l := load.Start(t, load.Targets{…}, load.Settings{})
//	l.Mark("kill -9 of the primary")
//	…                                   // the fault
//	l.Settled()                         // waits until all is well, and compares
//	l.Stop()
//	report := l.Report()                // report.Markdown(), or as JSON
//
// Every ID that reaches a client is recorded and compared with all others. A client is what an application has: a
// session of pgx, psql (libpq), JDBC, a pool. It connects again when its session ends. Probes are clients that
// measure how long a service is away: they ask often while a fault lasts, and seldom between faults. Writers are
// clients whose rows are counted, so that an acknowledged commit that is gone is found. Package meter says what each
// number means.
package load
