package statement

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Kinds of tokens that only a Scanner returns.
const (
	KindDecimal  Kind = 'd' // a number with a point or an exponent
	KindOperator Kind = 'o' // of two characters or more, or a character that is no mark
	KindOther    Kind = 'x' // complete, but its value is not read: U&'', U&"", B'', X'', and E'' with rare escapes
)

// Scanner reads any SQL as PostgreSQL's lexer does with standard_conforming_strings on, in UTF-8. Unlike the tokenizer
// it accepts all SQL: it knows where each token begins and ends, and so where a statement ends.
//
// Marks are kinds of their own: ( ) [ ] , ; . + - * / % ^ < > =
//
// It reads each byte a bounded number of times. Tokens that PostgreSQL's versions read differently are KindBad or
// KindOther. The zero value has no text.
type Scanner struct {
	cursor
	// Start and Stop are where the last token begins and ends.
	Start, Stop int
	value       []byte
	problem     string
	signs       int // each character before this position is a token of its own
}

// Scan begins to read a text, which must be valid UTF-8 without a NUL. The scanner keeps it.
func Scan(sql []byte) *Scanner { return &Scanner{cursor: cursor{sql: sql, any: true}} }

// Text is the complete text of the last word (folded), quoted identifier, number, parameter (its digits) or string.
func (s *Scanner) Text() string { return string(s.value) }

// Is reports whether the last token has this text.
func (s *Scanner) Is(text string) bool { return string(s.value) == text }

// Source is the last token as it is written.
func (s *Scanner) Source() []byte { return s.sql[s.Start:s.Stop] }

// Problem says, in PostgreSQL's words, why the last token is bad.
func (s *Scanner) Problem() string { return s.problem }

// Next reads one token. After KindEnd or KindBad there are no more.
func (s *Scanner) Next() Kind {
	s.value = s.value[:0]
	s.Start = s.at
	if !s.skipSpace() {
		s.Stop = len(s.sql)
		return s.bad("unterminated /* comment")
	}
	s.Start = s.at
	kind := KindEnd
	if s.at < len(s.sql) {
		kind = s.token(s.sql[s.at])
	}
	s.Stop = s.at
	return kind
}

func (s *Scanner) bad(problem string) Kind {
	s.problem = problem
	return KindBad
}

func (s *Scanner) token(c byte) Kind {
	switch next := s.peek(1); {
	case startsName(c):
		return s.wordOrPrefix(c, next)
	case isDigit(c), c == '.' && isDigit(next):
		return s.numeral()
	case c == '\'':
		return s.quotes(1, plain)
	case c == '"':
		s.at++
		return s.identifier()
	case c == '$':
		return s.dollar(next)
	case c == ':' && next == ':':
		s.at += 2
		return KindCast
	case c == ':' && next == '=', c == '.' && next == '.':
		s.at += 2
		return KindOperator
	case c == ':':
		s.at++
		return KindOperator
	case bytes.IndexByte([]byte("()[],;."), c) >= 0:
		s.at++
		return Kind(c)
	case isOperator(c):
		return s.operator()
	}
	_, size := utf8.DecodeRune(s.sql[s.at:])
	s.at += size
	return s.bad("syntax error")
}

// startsName says whether a byte can begin an identifier. PostgreSQL allows any byte above 0x7f.
func startsName(c byte) bool { return startsIdentifier(c) || c >= 0x80 }

// wordOrPrefix reads a word, or a constant with letters in front of its quote.
func (s *Scanner) wordOrPrefix(c, next byte) Kind {
	switch c = fold(c); {
	case next == '\'' && c == 'e':
		return s.quotes(2, escapes)
	case next == '\'' && (c == 'b' || c == 'x'):
		return s.unread(s.quotes(2, bits))
	case c == 'u' && next == '&' && s.peek(2) == '\'':
		return s.unread(s.quotes(3, plain))
	case c == 'u' && next == '&' && s.peek(2) == '"':
		s.at += 3
		return s.unread(s.identifier())
	}
	for ; s.at < len(s.sql); s.at++ {
		c := s.sql[s.at]
		if !startsName(c) && !isDigit(c) && c != '$' {
			break
		}
		s.value = append(s.value, fold(c))
	}
	return KindWord
}

// unread turns the kind of a constant into KindOther if its value is not read.
func (s *Scanner) unread(kind Kind) Kind {
	if kind == KindBad {
		return kind
	}
	return KindOther
}

// identifier reads on after the opening quote.
func (s *Scanner) identifier() Kind {
	for ; s.at < len(s.sql); s.at++ {
		c := s.sql[s.at]
		if c == '"' {
			s.at++
			if s.peek(0) != '"' {
				if len(s.value) == 0 {
					return s.bad("zero-length delimited identifier")
				}
				return KindQuoted
			}
		}
		s.value = append(s.value, c)
	}
	return s.bad("unterminated quoted identifier")
}

// quoting is the set of characters that stand for themselves between single quotes.
type quoting uint8

const (
	plain   quoting = iota // all except a quote, which is doubled
	escapes                // all except a quote and a backslash
	bits                   // all except a quote; a doubled one ends one constant and begins another
)

// quotes reads a constant in single quotes. opening is the length of its prefix and first quote. The constant continues
// on a later line if only space with a line break is in between.
func (s *Scanner) quotes(opening int, q quoting) Kind {
	s.at += opening
	kind := KindString
	for s.at < len(s.sql) {
		c := s.sql[s.at]
		s.at++
		switch {
		case c == '\\' && q == escapes:
			if !s.escape() {
				kind = KindOther
			}
			continue
		case c == '\'' && s.peek(0) == '\'' && q != bits:
			s.at++
		case c == '\'':
			if s.continues() {
				continue
			}
			if q == escapes && (!utf8.Valid(s.value) || bytes.IndexByte(s.value, 0) >= 0) {
				return KindOther
			}
			return kind
		}
		s.value = append(s.value, c)
	}
	return s.bad("unterminated quoted string")
}

// continues skips space with a line break, and the quote behind it, if both follow.
func (s *Scanner) continues() bool {
	line := false
	for i := s.at; i < len(s.sql); i++ {
		switch c := s.sql[i]; c {
		case ' ', '\t', '\f':
		case '\n', '\r':
			line = true
		case '-':
			if i+1 == len(s.sql) || s.sql[i+1] != '-' {
				return false
			}
			end := bytes.IndexAny(s.sql[i:], "\n\r")
			if end < 0 {
				return false
			}
			i += end - 1
		case '\'':
			if line {
				s.at = i + 1
			}
			return line
		default:
			return false
		}
	}
	return false
}

// escape reads on after a backslash. It returns false if the value is not read.
func (s *Scanner) escape() bool {
	if s.at == len(s.sql) {
		return true // the string has no end
	}
	c := s.sql[s.at]
	s.at++
	switch c {
	case 'b', 'f', 'n', 'r', 't':
		s.value = append(s.value, "\b\f\n\r\t"[bytes.IndexByte([]byte("bfnrt"), c)])
	case 'u':
		return s.codePoint(4)
	case 'U':
		return s.codePoint(8)
	case 'v': // a vertical tab since PostgreSQL 16
		return false
	case 'x':
		n := s.digits(2, 16)
		if n == 0 {
			s.value = append(s.value, c)
			return true
		}
		return s.code(n, 16)
	default:
		if c < '0' || c > '7' {
			s.value = append(s.value, c)
			return true
		}
		s.at--
		return s.code(s.digits(3, 8), 8)
	}
	return true
}

// digits counts the digits that follow, at most most.
func (s *Scanner) digits(most, base int) (n int) {
	for n < most && s.at+n < len(s.sql) {
		if _, err := strconv.ParseUint(string(s.sql[s.at+n]), base, 8); err != nil {
			break
		}
		n++
	}
	return n
}

// code reads a byte that is written in n digits.
func (s *Scanner) code(n, base int) bool {
	value, err := strconv.ParseUint(string(s.sql[s.at:s.at+n]), base, 16)
	s.at += n
	s.value = append(s.value, byte(value)) // as in PostgreSQL, \777 means \377
	return err == nil
}

// codePoint reads a character that is written in n digits. It does not read surrogates, which come in pairs.
func (s *Scanner) codePoint(n int) bool {
	if s.digits(n, 16) < n {
		return false
	}
	value, err := strconv.ParseUint(string(s.sql[s.at:s.at+n]), 16, 32)
	s.at += n
	if err != nil || value == 0 || value > utf8.MaxRune || !utf8.ValidRune(rune(value)) {
		return false
	}
	s.value = utf8.AppendRune(s.value, rune(value))
	return true
}

// numeral reads a number. Letters right behind it are an error, or have a meaning since PostgreSQL 16.
func (s *Scanner) numeral() Kind {
	kind := KindNumber
	from := s.at
	s.skipDigits()
	if s.peek(0) == '.' && s.peek(1) != '.' {
		kind = KindDecimal
		s.at++
		s.skipDigits()
	}
	if fold(s.peek(0)) == 'e' {
		exponent := 1
		if sign := s.peek(1); sign == '+' || sign == '-' {
			exponent = 2
		}
		if isDigit(s.peek(exponent)) {
			kind = KindDecimal
			s.at += exponent
			s.skipDigits()
		}
	}
	if startsName(s.peek(0)) {
		return s.bad("trailing junk after numeric literal")
	}
	s.value = append(s.value, s.sql[from:s.at]...)
	return kind
}

func (s *Scanner) skipDigits() {
	for isDigit(s.peek(0)) {
		s.at++
	}
}

// dollar reads $1 or $tag$…$tag$.
func (s *Scanner) dollar(next byte) Kind {
	from := s.at
	s.at++
	if isDigit(next) {
		s.skipDigits()
		if startsName(s.peek(0)) {
			return s.bad("trailing junk after parameter")
		}
		s.value = append(s.value, s.sql[from+1:s.at]...)
		return KindParam
	}
	i := s.at
	for i < len(s.sql) && (startsName(s.sql[i]) || isDigit(s.sql[i])) {
		i++
	}
	if i == len(s.sql) || s.sql[i] != '$' {
		return s.bad("syntax error")
	}
	tag := s.sql[from : i+1]
	text, _, found := bytes.Cut(s.sql[i+1:], tag)
	if !found {
		s.at = len(s.sql)
		return s.bad("unterminated dollar-quoted string")
	}
	s.at = i + 1 + len(text) + len(tag)
	s.value = append(s.value, text...)
	return KindString
}

// isMark says whether an operator of one character is a mark, a token kind of its own.
func isMark(c byte) bool { return bytes.IndexByte([]byte("+-*/%^<>="), c) >= 0 }

func isOperator(c byte) bool { return isMark(c) || bytes.IndexByte([]byte("~!@#&|`?"), c) >= 0 }

// longestOperator is NAMEDATALEN - 1, in bytes. A longer name is cut off, but a longer operator is an error.
const longestOperator = 63

// operator reads an operator, up to a comment. A plus or minus at its end belongs to the next token, unless the
// operator has a special character such as ~ or !.
func (s *Scanner) operator() Kind {
	from := s.at
	if from >= s.signs {
		s.at = s.operatorEnd()
	} else {
		s.at++
	}
	if s.at-from == 1 && isMark(s.sql[from]) {
		return Kind(s.sql[from])
	}
	if s.at-from > longestOperator {
		return s.bad("operator too long")
	}
	return KindOperator
}

// operatorEnd is where the present operator ends. It remembers the signs that it leaves, so that nothing reads them
// again.
func (s *Scanner) operatorEnd() int {
	end, bound := s.at+1, false
	i := s.at
	for ; i < len(s.sql) && isOperator(s.sql[i]); i++ {
		c := s.sql[i]
		if i+1 < len(s.sql) && (c == '-' && s.sql[i+1] == '-' || c == '/' && s.sql[i+1] == '*') {
			break
		}
		bound = bound || bytes.IndexByte([]byte("~!@#^&|`?%"), c) >= 0
		if c != '+' && c != '-' {
			end = i + 1
		}
	}
	if bound {
		return i
	}
	s.signs = i
	return end
}
