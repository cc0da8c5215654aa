// Package inprocess measures pgflurry's generator beside the ID libraries that Go programs use. Each is called as its
// documents say.
//
//	a call                  layouts so wide that nobody waits: what does one ID cost?
//	at the layout's limit   layouts as they come, asked for more than they have: is the rate held, and what does
//	                        that burn?
//
// Rules, each with a test of its name:
//
//  1. Every ID that is counted was made, and no source makes an ID twice.
//  2. A library's settings for the whole process change only for the turn that needs it.
//
// The base of comparison is one reading of the monotonic clock (time.Since). It is the cheapest way to know the time,
// which every ID with a time needs. time.Now reads two clocks, and is a contender like the others. Processor time is
// that of getrusage(2) for the whole process, garbage collection included.
package inprocess
