// Package logs thins the log, so that a trouble can fill neither the disk nor the memory, and stops no session.
//
//	reminder.go   a trouble that lasts is logged when it begins, when it changes, and from time to time
//	thin.go       of equal lines few are written, which say for how many they stand
//	journal.go    a line begins with its priority, for systemd's journal
//	queue.go      a slow reader of the log holds up nobody; lines that it has no room for are counted
//
// A Reminder belongs to the code that finds a trouble. Thin and Queued are handlers of the whole log.
package logs
