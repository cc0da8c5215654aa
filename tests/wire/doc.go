// Package wire is the differential test of the proxy: the same messages to PostgreSQL and to the proxy, the transcripts
// compared but for the digits.
//
//	            ┌── proxy ── PostgreSQL ──────────────────► transcript ─────────────────────┐
//	conversation┤                                               │ which batches it answered  ├ equal, IDs masked
//	            └── and a batch of the test's own behind those ◄┘                            │
//	                └── PostgreSQL ───────────────────────► transcript, without its replies ─┘
//
// A conversation (talk_test.go) is a list of steps; a step is some messages in one breath, after which the client waits
// for whatever PostgreSQL would have said by then. How much that is, PostgreSQL tells itself. The steps so far and a
// Terminate go to it in a session of their own; what comes out before the end is what a waiting client would have seen.
// So nothing sleeps and nothing is guessed. PostgreSQL has a database of its own for it, a twin of the proxies': the
// sessions wait for no lock of each other's and hear none of each other's notifications.
//
// # What PostgreSQL has to forget
//
// README promises less of what an answered batch leaves behind than PostgreSQL keeps. Its unnamed portal is
// gone with the next batch that is forwarded. So is its unnamed statement, unless that batch begins with a
// Bind or Describe of it. No line is left out for that, and no word masked. PostgreSQL is made to forget the
// same instead (reference_test.go):
//
//	the client says     P B E S     S     Q …
//	the proxy answers   2 n Z, with a local ID: batch 0 was answered
//	PostgreSQL gets     P B E S     S     C(statement "") C(portal "") S     Q …
//	and of its replies  2 n Z       Z     (taken out)                        T D C Z
//
// Which batches were answered the proxy's transcript tells: their rows hold local IDs, and the ReadyForQuery before
// them are as many as the batches before. That is exact up to the last local ID, because a session that cannot count
// its batches is never answered. What is said to PostgreSQL is computed anew whenever another local ID came in, and
// kept by its bytes. A lone Sync and a Flush outside a batch forget nothing, if they have no contents.
//
// Each conversation also says how many of its IDs the proxy must have given from memory. Without that, a proxy that
// forwards everything would pass. Local IDs are told from PostgreSQL's by their range, and counted again in the proxy's
// own statistics.
//
// # Words
//
// Words are conversations nobody wrote, over an alphabet of commands. All up to three letters are tried, in and out of
// a transaction block, in text and (but for those that cost a session each) in binary. So are some of four
// (letters_test.go). A session says many of them, clearing away behind each, until a word makes it relay only. Two
// letters in a fresh session each, and long random words, cut down to the shortest that still differs, are in
// words_test.go. All words of four letters: go test ./tests/wire -run Letters -args -letters=4. Random words for an
// hour: go test ./tests/wire -timeout 0 -run RandomWords -args -words=1h.
//
// # Without PostgreSQL
//
// Conversations with the ID database (package idserver) are held against PostgreSQL in inside_test.go: each of its
// statements in and out of a transaction block by both protocols, and conversations that are drawn.
//
// # Ways
//
// One of the ways that each conversation goes is inside TLS. Clients that vanish at any byte are in vanish_test.go.
//
// Bytes are read with github.com/jackc/pgproto3/v2, which shares no code with the codec in the proxy.
package wire
