// Package statement reads the text of a statement. It says whether the text is an answered form: one whose values may
// come from memory. Package proxy asks it about each statement of a client; proxy/idserver/command reads SQL with it.
//
//	text ──► tokenize.go ──► match.go ──────► Form: columns, rows, tag
//	         (its tokens)    words.go (keywords)
//	              │          names.go (what PostgreSQL has to look up)
//	              └────────► deallocate.go ─► may it drop prepared statements?
//
//	text ──► scan.go: the tokens of any SQL, for sessions without a PostgreSQL
//
// Whose names a session may use is its Permission (permission.go), which others set. The package knows nothing of
// messages, values of parameters or sessions. Package proxy makes the final decision whether a form is answered. Match
// refuses every text that it does not read to the last byte as PostgreSQL does.
package statement
