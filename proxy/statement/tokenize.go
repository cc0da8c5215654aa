package statement

// Kind says what a token is. A mark is its own kind: '(' ')' ',' '.' ';' '*'. A Scanner has more of them.
type Kind byte

const (
	KindEnd    Kind = 0   // only space and comments were left
	KindBad    Kind = '?' // no answered form contains this; for a Scanner: no token
	KindWord   Kind = 'w' // identifier or keyword, folded to lower case
	KindQuoted Kind = 'q' // "identifier", quotes removed
	KindNumber Kind = 'n' // digits only
	KindParam  Kind = '$' // $ and digits; text is the digits
	KindCast   Kind = ':' // ::
	KindString Kind = 's' // 'text', quotes removed
)

// IdentifierBytes is the longest identifier that PostgreSQL keeps whole (NAMEDATALEN - 1). It truncates longer ones,
// with a NOTICE.
const IdentifierBytes = 63

// MaxTagBytes is the longest business tag in bytes, and so the longest text in an answered form.
const MaxTagBytes = 128

// tokenizer reads the tokens of answered forms as PostgreSQL's own lexer does
// (https://www.postgresql.org/docs/current/sql-syntax-lexical.html). Everything else is bad. Bytes above 0x7f are bad
// everywhere, even in comments, because their meaning depends on the client's encoding. In some encodings the second
// byte of a character looks like a quote or a backslash.
//
// No method allocates.
type tokenizer struct {
	cursor
	// The text of the last word, quoted identifier, number, parameter or string, folded.
	folded [MaxTagBytes]byte
	length int
}

// text is the text of the last word, quoted identifier, number, parameter or string. It is valid until the next call.
func (t *tokenizer) text() []byte { return t.folded[:t.length] }

// keep adds a byte to the text. It returns false if the text is longer than an identifier.
func (t *tokenizer) keep(c byte) bool {
	return t.length < IdentifierBytes && t.keepAny(c)
}

// keepAny is keep for texts that are no identifiers.
func (t *tokenizer) keepAny(c byte) bool {
	if t.length == len(t.folded) {
		return false
	}
	t.folded[t.length] = c
	t.length++
	return true
}

// next reads one token.
func (t *tokenizer) next() Kind {
	if !t.skipSpace() {
		return KindBad
	}
	t.length = 0
	if t.at == len(t.sql) {
		return KindEnd
	}
	switch c := t.sql[t.at]; {
	case startsIdentifier(c):
		return t.word()
	case isDigit(c):
		return t.number(KindNumber)
	case c == '"':
		t.at++
		return t.quoted()
	case c == '\'':
		t.at++
		return t.constant()
	case c == '$':
		t.at++
		return t.number(KindParam)
	case c == '(', c == ')', c == ',', c == '.', c == ';', c == '*':
		t.at++
		return Kind(c)
	case c == ':' && t.peek(1) == ':':
		t.at += 2
		return KindCast
	}
	return KindBad
}

func (t *tokenizer) word() Kind {
	for ; t.at < len(t.sql) && (startsIdentifier(t.sql[t.at]) || isDigit(t.sql[t.at]) || t.sql[t.at] == '$'); t.at++ {
		if !t.keep(fold(t.sql[t.at])) {
			return KindBad
		}
	}
	return KindWord
}

// quoted reads on after the opening quote. A doubled quote stands for one. PostgreSQL refuses an empty name.
func (t *tokenizer) quoted() Kind {
	for ; t.at < len(t.sql); t.at++ {
		c := t.sql[t.at]
		if c == '"' {
			if t.peek(1) != '"' {
				break
			}
			t.at++
		}
		if !IsPlain(c) || !t.keep(c) {
			return KindBad
		}
	}
	if t.length == 0 || t.at == len(t.sql) {
		return KindBad
	}
	t.at++
	return KindQuoted
}

// constant reads on after the opening quote of a string. A doubled quote stands for one. A backslash is bad, because
// its meaning depends on the session's standard_conforming_strings. A string that continues on another line is two
// tokens here, and no form has two.
func (t *tokenizer) constant() Kind {
	for ; t.at < len(t.sql); t.at++ {
		c := t.sql[t.at]
		if c == '\'' {
			if t.peek(1) != '\'' {
				t.at++
				return KindString
			}
			t.at++
		}
		if !IsPlain(c) || c == '\\' || !t.keepAny(c) {
			return KindBad
		}
	}
	return KindBad
}

// number reads digits. With a letter behind them they are another token (0x1f, 1e3, 1_000) or an error (5a, $1a).
func (t *tokenizer) number(kind Kind) Kind {
	for ; t.at < len(t.sql) && isDigit(t.sql[t.at]); t.at++ {
		if !t.keep(t.sql[t.at]) {
			return KindBad
		}
	}
	if t.length == 0 || (t.at < len(t.sql) && startsIdentifier(t.sql[t.at])) {
		return KindBad
	}
	return kind
}

// fold maps A to Z to lower case, and nothing else, as PostgreSQL does with an unquoted word.
func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func startsIdentifier(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsPlain reports whether a byte may be in the comments, names and tags of an answered form. NUL may not, nor bytes
// whose meaning depends on the encoding.
func IsPlain(c byte) bool { return c != 0 && c < 0x80 }
