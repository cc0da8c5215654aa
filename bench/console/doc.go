// Package console runs a plan for a command, and shows the user its progress and its results.
//
//	announce          the command line that repeats the run, machine, versions, settings, what is not run, how long
//	                  it takes
//	take turns        a bar with the time left on a terminal, a line for each round elsewhere; a trial that fails is
//	                  printed and gets no more turns
//	table, results    also of a run that failed or was interrupted, with all that is finished; a quick look has a
//	                  narrow table, a sentence and bars
package console
