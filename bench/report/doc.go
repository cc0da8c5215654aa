// Package report folds samples into figures and verdicts, writes them for people and for programs,
// and compares two runs.
//
//	samples ──► Tabulate ──► Report ──► WriteTable, WriteQuick, WriteMarkdown, WriteJSON
//	                           └──► Compare with the results.json of an older run
//
// Every ratio is one of two samples of the same workload and round; medians and quartiles are taken over the rounds.
// results.json is the encoding of a Report, and all else is made from it alone.
package report
