// Package report has the values that operators see: a node at one moment, and its parts. Each room fills its own part.
// The node puts the parts together, and metrics, status page, service manager and SHOW read them as they are.
//
//	state.go     State, the whole; namespace, databases, segments, certificates
//	lease.go     the worker that the node holds, its clock, the worker table
//	clients.go   clients, the ID database, the upstream
//	histogram.go durations in fixed buckets, which rooms count and admin writes as metrics
//	recent.go    a value that is made at most once in its time, for many who ask
//
// A State and its parts never change after they were handed out.
package report
