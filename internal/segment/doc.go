// Package segment gives dense numbers of business tags from memory. It reserves them in blocks, in the rows of
// pgflurry.segment.
//
//	  pgflurry.segment, one row a tag              this process
//	┌─────────────────────────────────┐         ┌──────────────────────────────┐
//	│ order · max_id 9001 · step 2000 │◀─fetch──│ supply of "order"            │ TryNextN
//	└─────────────────────────────────┘         │ current [5001 ▒▒▒▒░░░░ 7001) ├─────────▶ callers
//	     ▲                                      │ ahead   [7001 ░░░░░░░░ 9001) │ NextN
//	     │ next_segment(), in a transaction     └──────────────────────────────┘
//
// A block is a range of numbers that one acknowledged write has taken from the row (package acknowledge). From then on
// only this process gives them out. max_id of the row is exclusive: the next number to be given.
//
// Package node makes one Source for each proxy. Sessions draw from it when they call next_segment() or next_segments().
//
// # When the next block is fetched
//
// While no block is ahead, each draw asks two questions. Has a tenth of the current block been used? Will the rest last
// less than 10 s at the present rate? If either is true, a fetch begins. So the next block arrives long before it is
// needed. A busy tag whose blocks have grown has enough numbers for 10 s without a database.
//
// A block that lasted less than 15 minutes doubles the size of the next fetch. A block that lasted more than 30 minutes
// halves it. The size stays between the row's step and 1,000,000. If a caller wants more at once, the fetch is as large
// as its request, up to 1,000,000.
//
// # When there is none
//
// A caller that finds no number waits while a fetch is under way, at most until its context ends. After a failed fetch
// callers get an error at once until the next attempt. If the tag has no row, they get one for a second. They can then
// ask the database itself.
//
// # Where numbers come from
//
// The name of a database may lead to another one: names are swapped, a pooler's alias moves, a dump is restored in
// place. A block belongs to the database and to the table that it was taken from: its origin (pgflurry.segment_origin).
// Only a look says which one that is (Source.From). Package node looks every two seconds. Each fetch names the origin
// that it expects, and takes nothing from another one. If one does not find it, nothing is given until the next look.
//
//	                 a look finds another origin          a fetch finds another origin
//	gives numbers ────────────────────────────────▶ ╳ ◀──────────────────────────────── gives numbers
//	                 forgets blocks and marks;             forgets the same, and gives nothing
//	                 gives numbers of that one             until a look
//
// An answer may come over a connection to the old database. So a look or a fetch counts only if it was asked since the
// last change. A fetch uses a connection that was opened since.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. No number of a tag is given twice, by however many processes and calls of the function.
//  2. A fetch of unknown outcome gives nothing. Its block, if there was one, is skipped. So is the rest when the
//     process ends.
//  3. The numbers of one tag increase.
//  4. Once a tenth of a block is used, the next block is there, or being fetched, or its fetch has failed and rests.
//  5. The size of a fetch is within the row's step and 1,000,000: doubled after less than 15 minutes, halved after more
//     than 30.
//  6. A caller waits no longer than its context, and holds no lock meanwhile; nor does a fetch.
//  7. A tag is found on its first use. After its row is removed, numbers may come for at most another minute.
//  8. A row can fall behind what was acknowledged: the database lost a commit, or somebody made the tag anew. The
//     source then raises the row and drops the rest of its blocks, even if the fetch that noticed it fails. If others
//     have raised the row to the mark before the source looks, it cannot notice, and the rest goes on.
//  9. When Run has returned nothing is given any more, and no connection and no goroutine is left.
//  10. Every number that is given is of the origin that the last look has found, and no answer from before that look
//     changes it. What was given elsewhere says nothing of the rows here.
//
// Goroutines: the caller starts Source.Run, ends it through its context, and waits for it. At the first draw,
// Run starts a few that fetch and one that looks every minute whether the tags are still there. It waits for them.
package segment
