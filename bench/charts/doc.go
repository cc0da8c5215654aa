// Package charts draws a report, from its figures alone, and keeps the folder of results.
//
//	report ──► one chart per task: throughput, time of a round trip ──► NAME.svg, NAME.png
//	           and throughput by clients (or goroutines) where several numbers of them were measured
//
// Rules; 1 holds because chartsOf takes one report, the others have a test of their name:
//
//  1. A chart shows figures of one report, and a report has one kind: what ran in process never stands beside what went
//     over the wire.
//  2. A mark is a median; its bar goes from the first to the third quartile of the rounds, or to the edge from a
//     quartile of 0, which no logarithmic axis has. A figure of one round has no bar.
//  3. What was not measured has no mark.
//  4. Every chart names its machine, its date and its number of rounds, and says so if the run was incomplete.
//  5. Texts of a chart stay apart and inside without the font that it was made with (svg.go). The test needs a browser,
//     and is in bench/tests.
//  6. Results replace those before them, charts and all; a report that measured nothing replaces no results.
//
// Axes of throughput and time are logarithmic, because contenders differ by orders of magnitude: equal distances are
// equal ratios. On such an axis a bar from zero cannot be drawn, so there are marks and no bars.
package charts
