// Package charts draws the figures of a report, and replaces the files in the folder of results.
//
//	report ──► one chart per task: throughput, time of a round trip ──► NAME.svg, NAME.png
//	           and throughput by clients (or goroutines) where several numbers of them were measured
//
// Rules. Rule 1 holds because chartsOf takes one report. Each other rule has a test of its name:
//
//  1. A chart shows figures of one report, and a report has one kind. So figures from within a process never stand
//     beside figures from over the wire.
//  2. A mark is a median. Its bar goes from the first to the third quartile of the rounds. A logarithmic axis has no 0:
//     from a quartile of 0 the bar begins at the edge. A figure of one round has no bar.
//  3. A missing measurement has no mark.
//  4. Every chart names its machine, its date and its number of rounds, and says so if the run was incomplete.
//  5. Texts neither overlap nor leave the chart, even in another font than that of the layout (svg.go). The test needs
//     a browser, and is in bench/tests.
//  6. Results replace earlier results, charts included. A report without a sample replaces nothing.
//
// Axes of throughput and time are logarithmic, because contenders differ by orders of magnitude: equal distances are
// equal ratios. Such an axis has no zero where a bar could begin, so figures are marks.
package charts
