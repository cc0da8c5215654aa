// Package tokens cuts a text of SQL into statements, and reads the tokens of one. Package command has the grammar over
// them. It makes the two errors that say what stands there: a syntax error, and that there is no answer here.
package tokens

import (
	"strconv"
	"strings"

	"pgflurry/internal/fault"
	"pgflurry/proxy/statement"
)

// Codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	codeNotSupported = "0A000"
	codeSyntax       = "42601"
	codeNameTooLong  = "42622"
)

const hintAnswered = "This database answers SELECT next_snowflake(), SELECT next_snowflake() FROM " +
	"generate_series(1, n), SELECT * FROM next_snowflakes(n), and the same with next_segment('tag') and " +
	"next_segments('tag', n); n is 1 to 10000. SHOW HELP tells the rest. " +
	"Tables are behind the proxy's other databases."

// Reader reads one statement with one token of lookahead: the present token.
type Reader struct {
	scan *statement.Scanner
	text []byte // of the statement
	kind statement.Kind
}

// Read begins at the first token of a statement.
func Read(text []byte) *Reader {
	r := &Reader{scan: statement.Scan(text), text: text}
	r.Next()
	return r
}

// Next goes on to the next token.
func (r *Reader) Next() { r.kind = r.scan.Next() }

// Kind is the kind of the present token.
func (r *Reader) Kind() statement.Kind { return r.kind }

// Text is the value of the present token. A word without quotes is in lower case.
func (r *Reader) Text() string { return r.scan.Text() }

// Rest is the statement from the present token on.
func (r *Reader) Rest() []byte { return r.text[r.scan.Start:] }

// Skip goes to the end of the statement.
func (r *Reader) Skip() {
	for !r.Ended() {
		r.Next()
	}
}

// Ended says that nothing of the statement is left.
func (r *Reader) Ended() bool { return r.kind == statement.KindEnd }

// Syntax is a syntax error at the present token.
func (r *Reader) Syntax() fault.Error {
	if r.Ended() {
		return fault.New(codeSyntax, "syntax error at end of input", "")
	}
	return syntaxNear("syntax error", r.scan)
}

func syntaxNear(what string, scan *statement.Scanner) fault.Error {
	return fault.Errorf(codeSyntax, "", `%s at or near "%s"`, what, Quote(scan.Source()))
}

// Refuse refuses the statement, which PostgreSQL may well accept.
func (r *Reader) Refuse() fault.Error {
	return fault.Errorf(codeNotSupported, hintAnswered, "this statement is not answered without PostgreSQL: %s",
		Quote(r.text))
}

// At says whether the present token is this word, unquoted.
func (r *Reader) At(word string) bool { return r.kind == statement.KindWord && r.scan.Is(word) }

// Keyword reads one of these words and returns it; empty if none of them is next.
func (r *Reader) Keyword(words ...string) string {
	for _, word := range words {
		if r.At(word) {
			r.Next()
			return word
		}
	}
	return ""
}

// Keywords reads words that must follow each other.
func (r *Reader) Keywords(words ...string) error {
	for _, word := range words {
		if r.Keyword(word) == "" {
			return r.Syntax()
		}
	}
	return nil
}

// Mark reads a token of this kind; false if another one is next.
func (r *Reader) Mark(kind statement.Kind) bool {
	if r.kind != kind {
		return false
	}
	r.Next()
	return true
}

// IsWord says that the present token is any word, or a quoted one.
func (r *Reader) IsWord() bool { return r.kind == statement.KindWord || r.kind == statement.KindQuoted }

// IsName says that the present token is a word that is not reserved, or a quoted one.
func (r *Reader) IsName() bool {
	return r.kind == statement.KindQuoted ||
		r.kind == statement.KindWord && !statement.IsReserved(r.Text())
}

// Name reads the name of a statement, a cursor, a savepoint or a setting: any identifier except a reserved keyword.
func (r *Reader) Name() (string, error) {
	if !r.IsName() {
		return "", r.Syntax()
	}
	return r.Identifier()
}

// Identifier reads the word or quoted name that is next. It refuses a long one; PostgreSQL would truncate it with a
// NOTICE.
func (r *Reader) Identifier() (string, error) {
	name := r.Text()
	if len(name) > statement.IdentifierBytes {
		return "", fault.Errorf(codeNameTooLong, "", `identifier "%s" is too long: it has %d bytes, more than %d`,
			Quote(name[:statement.IdentifierBytes]), len(name), statement.IdentifierBytes)
	}
	r.Next()
	return name, nil
}

// NameOrAll reads a name, or ALL.
func (r *Reader) NameOrAll() (name string, all bool, err error) {
	if r.Keyword("all") != "" {
		return "", true, nil
	}
	name, err = r.Name()
	return name, false, err
}

// Signed reads a number with or without a sign, in the form in which SET keeps it.
func (r *Reader) Signed() (string, error) {
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
