// Package console runs a plan before somebody's eyes, for all commands that measure.
//
//	announce          the command line that repeats the run, machine, versions, settings, what is not run, how long
//	                  it takes
//	take turns        a bar with the time left on a terminal, a line for each round elsewhere; what fails is
//	                  printed and has no more turns
//	table, results    also of a run that failed or was interrupted, for what it has finished; a quick look has a
//	                  narrow table, a sentence and bars
package console
