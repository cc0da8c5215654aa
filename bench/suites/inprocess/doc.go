// Package inprocess measures pgflurry's generator beside the libraries for IDs that Go programs use, each called as its
// documents say.
//
//	a call                  layouts so wide that nobody waits: what does one ID cost?
//	at the layout's limit   layouts as they come, asked for more than they have: is the rate held, and what does
//	                        that burn?
//
// Rules, each with a test of its name:
//
//  1. What is counted was made, and no source makes an ID twice.
//  2. A library's settings for the whole process stay as they came, but for the turn that needs others.
//
// The measure beside is one reading of the monotonic clock (time.Since of a moment): the cheapest way to know the time,
// without which no ID that carries it can be made. time.Now reads two clocks, and is a contender like the others.
// Processor time is getrusage(2)'s of the whole process, the collector of garbage included.
package inprocess
