// Package recorder remembers every ID that a test has seen, and reports at once when one comes again.
//
// It is exact: it has a bit for each ID, and uses no hash and no sample. IDs are stored by nearness in time. Those with
// the same upper 52 bits are one page; in the default layout that is one worker and one tick, 4096 IDs. Pages with the
// same upper 32 bits, about a second, are one chapter. A page holds the few numbers that it has seen, or 512 bytes of
// bits once that is less. So 10^7 IDs take some tens of megabytes. Where that is too much, it writes the chapters to
// files that were not touched for longest. An ID of a written chapter brings that chapter back. So a late ID is also
// compared with all earlier ones.
package recorder
