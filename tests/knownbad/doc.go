// Package knownbad tells how the usual ways to number the workers of a snowflake fail, one function a story, and leads
// pgflurry through the same story. Both sides are held against the same exact set of IDs (tests/support/recorder): the
// one finds its duplicate, the other has none.
//
// The bad ways are written down as they are found in the wild, reduced to what fails. Their clock is the story's.
// pgflurry's side is the real core (keeper, clock, generator) over a real PostgreSQL.
package knownbad
