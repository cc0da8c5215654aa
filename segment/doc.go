// Package segment gives dense numbers of business tags from memory.
// It reserves them in blocks, in the rows of pgflurry.segment.
//
//	  pgflurry.segment, one row a tag              this process
//	┌─────────────────────────────────┐         ┌──────────────────────────────┐
//	│ order · max_id 9001 · step 2000 │◀─fetch──│ supply of "order"            │ TryNextN
//	└─────────────────────────────────┘         │ current [5001 ▒▒▒▒░░░░ 7001) ├─────────▶ callers
//	     ▲                                      │ ahead   [7001 ░░░░░░░░ 9001) │ NextN
//	     │ next_segment(), in a transaction     └──────────────────────────────┘
//
// A block is a range of numbers that one acknowledged write has taken from the row (package acknowledge). From then on
// it is this process's alone. max_id of the row is exclusive: the next number to be given.
//
// # When the next block is fetched
//
// While there is none ahead, each draw asks two questions. Has a tenth of the current block been used? Will the rest
// last less than 10 s at the rate at which numbers are drawn? If so the fetch begins. So the next block is ahead long
// before it is needed. A busy tag whose blocks have grown has at least what 10 s without a database take.
//
// A block that lasted less than 15 minutes doubles the size of the next fetch, one that lasted more than 30 halves it,
// within the row's step and 1,000,000. A caller that wants more at once than such a block gets a block as large.
//
// # When there is none
//
// A caller that finds nothing waits, at most as long as it likes, while a fetch is under way. Where a fetch has
// failed the callers are told at once until the next attempt, and where the tag has no row, for a second. They can
// ask the database itself.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. No number of a tag is given twice, by however many processes and calls of the function.
//  2. A fetch of unknown outcome gives nothing. Its block, if there was one, is skipped, as is what is left when the
//     process ends.
//  3. The numbers of one tag increase.
//  4. Once a tenth of a block is used the next one is there, or being fetched, or its fetch has failed and rests.
//  5. The size of a fetch is within the row's step and 1,000,000: doubled after less than 15 minutes, halved after more
//     than 30.
//  6. A caller waits no longer than its context, and holds no lock meanwhile; nor does a fetch.
//  7. A tag is found on its first use; a removed one gives nothing once that was noticed, after a minute at most.
//  8. A row that has fallen behind what was acknowledged (the database has lost a commit, or the tag was made anew) is
//     raised again, and what was left of the blocks is not given, whatever becomes of the fetch that noticed. A row
//     that others have brought back to the mark before anybody looked tells nothing: what was left then goes on.
//  9. When Run has returned nothing is given any more, and no connection and no goroutine is left.
//
// Goroutines: the caller starts Source.Run, ends it through its context, and waits for it. Run starts a few that fetch
// and one that looks every minute whether the tags are still there, and waits for them.
package segment
