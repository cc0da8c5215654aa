package command

import (
	"pgflurry/idserver/problem"
	"pgflurry/proxy/statement"
)

// parser reads one statement with one token of lookahead.
type parser struct {
	scan *statement.Scanner
	text []byte // of the statement
	kind statement.Kind
}

func (p *parser) next() { p.kind = p.scan.Next() }

// syntax is a syntax error at the present token.
func (p *parser) syntax() problem.Error {
	if p.kind == statement.KindEnd {
		return failf(codeSyntax, "", "syntax error at end of input")
	}
	return failf(codeSyntax, "", `syntax error at or near "%s"`, quote(p.scan.Source()))
}

func (p *parser) refuse() problem.Error { return notAnswered(p.text) }

// at says whether the present token is this word, unquoted.
func (p *parser) at(word string) bool { return p.kind == statement.KindWord && p.scan.Is(word) }

// keyword reads one of these words and returns it; empty if none of them is next.
func (p *parser) keyword(words ...string) string {
	for _, word := range words {
		if p.at(word) {
			p.next()
			return word
		}
	}
	return ""
}

// keywords reads words that must follow each other.
func (p *parser) keywords(words ...string) error {
	for _, word := range words {
		if p.keyword(word) == "" {
			return p.syntax()
		}
	}
	return nil
}

func (p *parser) mark(kind statement.Kind) bool {
	if p.kind != kind {
		return false
	}
	p.next()
	return true
}

// name reads the name of a statement, a cursor, a savepoint or a setting: any identifier except a reserved keyword.
func (p *parser) name() (string, error) {
	if !p.isName() {
		return "", p.syntax()
	}
	return p.identifier()
}

// identifier reads the word or quoted name that is next. It refuses a long one; PostgreSQL would truncate it with a
// NOTICE.
func (p *parser) identifier() (string, error) {
	name := p.scan.Text()
	if len(name) > statement.IdentifierBytes {
		return "", failf(codeNameTooLong, "", `identifier "%s" is too long: it has %d bytes, more than %d`,
			quote(name[:statement.IdentifierBytes]), len(name), statement.IdentifierBytes)
	}
	p.next()
	return name, nil
}

// nameOrAll reads a name, or ALL.
func (p *parser) nameOrAll() (name string, all bool, err error) {
	if p.keyword("all") != "" {
		return "", true, nil
	}
	name, err = p.name()
	return name, false, err
}

// ended says that nothing of the statement is left.
func (p *parser) ended() bool { return p.kind == statement.KindEnd }
