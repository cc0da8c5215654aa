// Package knownbad tells in one test each how a usual way to number workers fails. Then it leads pgflurry through the
// same story. The same exact set of IDs (tests/support/recorder) judges both: the bad way has a duplicate, pgflurry has
// none.
//
// The bad ways are those found in practice, reduced to the part that fails. Their clock belongs to the story.
// pgflurry's side is the real core (keeper, clock, generator) over a real PostgreSQL.
package knownbad
