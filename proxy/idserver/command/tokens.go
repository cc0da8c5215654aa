package command

import (
	"strconv"
	"strings"

	"pgflurry/internal/fault"
	"pgflurry/proxy/statement"
)

const hintAnswered = "Only IDs are here: SHOW HELP lists the statements, and tables are in the other databases."

// tokens reads one statement with one token of lookahead: the present token. It makes the two errors that say what
// stands there: a syntax error, and that there is no answer here.
type tokens struct {
	scan *statement.Scanner
	text []byte // of the statement
	kind statement.Kind
}

// readTokens begins at the first token of a statement.
func readTokens(text []byte) *tokens {
	r := &tokens{scan: statement.Scan(text), text: text}
	r.Next()
	return r
}

// Next goes on to the next token.
func (r *tokens) Next() { r.kind = r.scan.Next() }

// Kind is the kind of the present token.
func (r *tokens) Kind() statement.Kind { return r.kind }

// Text is the value of the present token. A word without quotes is in lower case.
func (r *tokens) Text() string { return r.scan.Text() }

// Rest is the statement from the present token on.
func (r *tokens) Rest() []byte { return r.text[r.scan.Start:] }

// Skip goes to the end of the statement.
func (r *tokens) Skip() {
	for !r.Ended() {
		r.Next()
	}
}

// Ended says that nothing of the statement is left.
func (r *tokens) Ended() bool { return r.kind == statement.KindEnd }

// Syntax is a syntax error at the present token.
func (r *tokens) Syntax() fault.Error {
	if r.Ended() {
		return fault.New(codeSyntax, "syntax error at end of input", "")
	}
	return syntaxNear("syntax error", r.scan)
}

func syntaxNear(what string, scan *statement.Scanner) fault.Error {
	return fault.Errorf(codeSyntax, "", `%s at or near "%s"`, what, quote(scan.Source()))
}

// Refuse refuses the statement, which PostgreSQL may well accept.
func (r *tokens) Refuse() fault.Error {
	return fault.Errorf(codeNotSupported, hintAnswered, "this statement is not answered without PostgreSQL: %s",
		quote(r.text))
}

// At says whether the present token is this word, unquoted.
func (r *tokens) At(word string) bool { return r.kind == statement.KindWord && r.scan.Is(word) }

// Keyword reads one of these words and returns it; empty if none of them is next.
func (r *tokens) Keyword(words ...string) string {
	for _, word := range words {
		if r.At(word) {
			r.Next()
			return word
		}
	}
	return ""
}

// Keywords reads words that must follow each other.
func (r *tokens) Keywords(words ...string) error {
	for _, word := range words {
		if r.Keyword(word) == "" {
			return r.Syntax()
		}
	}
	return nil
}

// Mark reads a token of this kind; false if another one is next.
func (r *tokens) Mark(kind statement.Kind) bool {
	if r.kind != kind {
		return false
	}
	r.Next()
	return true
}

// IsWord says that the present token is any word, or a quoted one.
func (r *tokens) IsWord() bool { return r.kind == statement.KindWord || r.kind == statement.KindQuoted }

// IsName says that the present token is a word that is not reserved, or a quoted one.
func (r *tokens) IsName() bool {
	return r.kind == statement.KindQuoted ||
		r.kind == statement.KindWord && !statement.IsReserved(r.Text())
}

// Name reads the name of a statement, a cursor, a savepoint or a setting: any identifier except a reserved keyword.
func (r *tokens) Name() (string, error) {
	if !r.IsName() {
		return "", r.Syntax()
	}
	return r.Identifier()
}

// Identifier reads the word or quoted name that is next. It refuses a long one; PostgreSQL would truncate it with a
// NOTICE.
func (r *tokens) Identifier() (string, error) {
	name := r.Text()
	if len(name) > statement.IdentifierBytes {
		return "", fault.Errorf(codeNameTooLong, "", `identifier "%s" is too long: it has %d bytes, more than %d`,
			quote(name[:statement.IdentifierBytes]), len(name), statement.IdentifierBytes)
	}
	r.Next()
	return name, nil
}

// NameOrAll reads a name, or ALL.
func (r *tokens) NameOrAll() (name string, all bool, err error) {
	if r.Keyword("all") != "" {
		return "", true, nil
	}
	name, err = r.Name()
	return name, false, err
}

// Signed reads a number with or without a sign, in the form in which SET keeps it.
func (r *tokens) Signed() (string, error) {
	sign := ""
	if r.kind == '-' || r.kind == '+' {
		sign = strings.TrimPrefix(string(rune(r.kind)), "+")
		r.Next()
	}
	if r.kind != statement.KindNumber && r.kind != statement.KindDecimal {
		return "", r.Syntax()
	}
	number := r.Text()
	if n, err := strconv.ParseInt(number, 10, 32); err == nil {
		number = strconv.FormatInt(n, 10)
	}
	r.Next()
	return sign + number, nil
}
