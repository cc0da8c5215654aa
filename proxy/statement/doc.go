// Package statement reads the text of a statement: whether it is an answered form, that is, one whose values the proxy
// may give from memory, and which.
//
//	text ──► tokenize.go ──► match.go ──────► Form: columns, rows, tag
//	         (its tokens)    words.go (keywords)
//	              └────────► deallocate.go ─► may it drop prepared statements?
//
//	text ──► scan.go: the tokens of any SQL, for whoever has no PostgreSQL to pass it on to
//
// It knows nothing of messages, parameters' values, sessions or permissions: whether a form is answered in the end is
// for proxy to say. What it does not read to the last byte as PostgreSQL does, it refuses.
package statement
