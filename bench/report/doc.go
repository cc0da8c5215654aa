// Package report turns samples into figures and verdicts, and writes them for people and for programs.
//
//	samples ──► Tabulate ──► Report ──► WriteTable, WriteQuick, Write
//
// A ratio divides two samples of the same workload and round. Medians and quartiles are taken over the rounds.
// results.json is the encoding of a Report, and everything else is made from it alone.
package report
