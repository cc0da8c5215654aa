// Package recorder remembers every ID that a test has seen, and says at once when one comes again.
//
// It is exact: a bit for each ID, no hash and no sample. IDs lie together as they are made. Those that share their
// upper 52 bits (in the default layout one worker and one tick, 4096 IDs) are one page. Pages that share their upper 32
// bits (about a second) are one chapter. A page holds the few numbers it has seen, or 512 bytes of bits once that is
// less. So 10^7 IDs take some tens of megabytes, and where that is too much, the chapters that were not touched for
// longest are written to files. An ID of a written chapter brings it back, so a late ID is compared with all that came
// before it too.
package recorder
