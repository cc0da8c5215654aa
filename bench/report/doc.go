// Package report turns samples into figures and verdicts, writes them for people and for programs, and compares two
// runs.
//
//	samples ──► Tabulate ──► Report ──► WriteTable, WriteQuick, WriteMarkdown, WriteJSON
//	                           └──► Compare with the results.json of an older run
//
// A ratio divides two samples of the same workload and round. Medians and quartiles are taken over the rounds.
// results.json is the encoding of a Report, and everything else is made from it alone.
package report
