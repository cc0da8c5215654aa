// Package wire is the differential test of the proxy. PostgreSQL and the proxy get the same messages, and the
// transcripts are compared. Only the digits of IDs may differ.
//
//	            ┌── proxy ── PostgreSQL ──────────────────► transcript ─────────────────────┐
//	conversation┤                                               │ which batches it answered  ├ equal, IDs masked
//	            └── and a batch of the test's own behind those ◄┘                            │
//	                └── PostgreSQL ───────────────────────► transcript, without its replies ─┘
//
// A conversation (talk_test.go) is a list of steps. A step is some messages that the client sends without a pause. Then
// the client waits for everything that PostgreSQL would have sent by then. PostgreSQL itself says how much that is: the
// steps so far and a Terminate go to it in a session of their own. What comes out before the end is what a waiting
// client would have seen. So nothing sleeps, and nothing is guessed. For this PostgreSQL uses a database of its own, a
// twin of the one behind the proxies. So the two sides do not wait for each other's locks, and do not get each other's
// notifications.
//
// # What PostgreSQL has to forget
//
// docs/protocol.md promises less than PostgreSQL keeps after an answered batch. The unnamed portal is gone with the
// next forwarded batch. So is the unnamed statement, unless that batch begins with a Bind or Describe of it. The
// comparison leaves out no line and masks no word for that. Instead the test makes PostgreSQL forget the same
// (reference_test.go):
//
//	the client says     P B E S     S     Q …
//	the proxy answers   2 n Z, with a local ID: batch 0 was answered
//	PostgreSQL gets     P B E S     S     C(statement "") C(portal "") S     Q …
//	and of its replies  2 n Z       Z     (taken out)                        T D C Z
//
// The proxy's transcript shows which batches it answered. Their rows hold local IDs, and the number of ReadyForQuery
// before them is the number of batches before. That is exact up to the last local ID, because the proxy never answers
// in a session in which it cannot count batches. The messages for PostgreSQL are computed anew after each local ID, and
// their transcripts are cached. A lone Sync and a Flush outside a batch forget nothing, if they have no contents.
//
// Each conversation also has the number of IDs that the proxy must give from memory. Otherwise a proxy that forwards
// everything would pass. The test tells local IDs from PostgreSQL's by their range, and compares the count with the
// proxy's own statistics.
//
// # Words
//
// Words are conversations that nobody wrote, over an alphabet of commands. All words up to three letters are tried, in
// and out of a transaction block, in text and in binary. In everyday runs (package volume) each is tried in about one
// of these four ways. Words that cost a session each are only tried in text. Some words of four letters follow
// (letters_test.go). A session says many words and clears up after each, until a word
// forces the proxy to relay only. words_test.go has words of two letters in a new session each. It also has long random
// words, and cuts them down to the shortest word that still differs. All words of four letters: go test ./tests/wire
// -run Letters -args -letters=4. Random words for an hour: go test ./tests/wire -timeout 0 -run RandomWords -args
// -words=1h.
//
// # Without PostgreSQL
//
// inside_test.go compares the ID database (package idserver) with PostgreSQL. It runs each of its statements in and out
// of a transaction block, by both protocols, and random conversations.
//
// # Ways
//
// Each conversation goes several ways, and one of them is inside TLS. Everyday runs draw at most two of them.
// vanish_test.go has clients that vanish at any byte.
//
// The test reads bytes with github.com/jackc/pgproto3/v2, which shares no code with the proxy's codec.
package wire
