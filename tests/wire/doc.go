// Package wire is the differential test of the proxy: the same messages to PostgreSQL and to the proxy, the transcripts
// compared but for the digits.
//
//	            ┌── PostgreSQL ──────────────► transcript ┐
//	conversation┤                                         ├ equal, IDs masked
//	            └── proxy ── PostgreSQL ─────► transcript ┘
//
// A conversation (talk_test.go) is a list of steps; a step is some messages in one breath, after which the client waits
// for whatever PostgreSQL would have said by then. How much that is, PostgreSQL tells itself: the steps so far and a
// Terminate go to it in a session of their own, and what comes out before the end is what a waiting client would have
// seen. So nothing sleeps and nothing is guessed.
//
// Each conversation also says how many of its IDs the proxy must have given from memory. Without that, a proxy that
// forwards everything would pass. Local IDs are told from PostgreSQL's by their range, and counted again in the proxy's
// own statistics.
//
// Words are conversations nobody wrote, over an alphabet of commands. All up to three letters are tried, in and out of a
// transaction block, in text and in binary, and some of four (letters_test.go); a session says thousands of them, clearing away
// behind each. Two letters in a fresh session each, and long random words, cut down to the shortest that still differs, are in
// words_test.go. All words of four letters: go test ./tests/wire -run Letters -args -letters=4.
//
// One of the ways that each conversation goes is inside TLS.
//
// Bytes are read with github.com/jackc/pgproto3/v2, which shares no code with the codec in the proxy.
package wire
