// Package frontend has what the relay and the ID database have in common on the client's side. These two are the
// engines behind it. It has their sessions, what these count, and why they ended. It knows neither engine nor messages.
//
//	registry.go   Registry: the sessions of an engine, their cancel keys, the drain, the handover of the socket
//	counts.go     Counts of one session, Sums of many, histograms of times
//	reason.go     Reason and Ending: why a session ended
//	state.go      State: what a session does
//	safely.go     keeps a panic in one session from ending the others
package frontend
