package proxy

import "bytes"

// Answered forms. In brackets: may be missing. Keywords and names in any case, names also quoted; comments and space
// between any two tokens.
//
//	statement  SELECT call {, call} [FROM series] [;]
//	           SELECT * FROM ids [;]
//	call       value [::bigint | ::int8 | ::text] [[AS] label]
//	value      [public.] next_snowflake() | [public. | pgflurry.] next_segment(tag)
//	series     generate_series(1, count) [alias]
//	ids        [public.] next_snowflakes(count) [alias] | [public. | pgflurry.] next_segments(tag, count) [alias]
//	count      1 … 10000 | $1, or $2 where the tag is $1
//	tag        'text' without a backslash | $1
//	alias      [AS] name [(name)]
//
// The values of a statement are either all IDs or all numbers of one tag.
//
// All of them are forms of which PostgreSQL's answer is known to the last byte but for the digits. Whatever does not fit is
// forwarded: a statement PostgreSQL accepts and match refuses costs a round trip, the other way round is a wrong answer.

const (
	// maxIDs is the most IDs one answer may hold: columns times rows.
	maxIDs = 10_000
	// maxText is the longest statement looked at, in bytes. It also bounds the columns, far below PostgreSQL's 1664.
	maxText = 1 << 10
)

// form is an answered form: which columns, how many rows, where the count comes from. It is immutable.
type form struct {
	columns []column
	// rows is the literal count, 1 when there is no FROM, 0 when the count is a parameter. 1 … maxIDs/len(columns)
	rows int
	// param: the count is the last parameter. Whoever binds it keeps rows times columns within maxIDs
	param bool
	// unqualified: an answered function's name was written without a schema, so search_path decides which function it is
	unqualified bool
	// tag: the values are numbers of this tag; nil: they are IDs
	tag *tag
}

// tag is the business tag that an answered form names.
type tag struct {
	text  []byte // ASCII, 1 to 128 characters; nil if it is a parameter
	param bool   // it is $1
}

// params is how many parameters the form has: the tag, the count.
func (f *form) params() (n int) {
	if f.tag != nil && f.tag.param {
		n++
	}
	if f.param {
		n++
	}
	return n
}

// tagOr is the tag of the form, which is bound if it is a parameter; nil for IDs.
func (f *form) tagOr(bound []byte) []byte {
	switch {
	case f.tag == nil:
		return nil
	case f.tag.param:
		return bound
	}
	return f.tag.text
}

// column is one column of an answered form.
type column struct {
	name string
	text bool // ::text, otherwise bigint
}

// match reports whether sql is an answered form, and which. False means forward. It does not keep sql.
func match(sql []byte) (*form, bool) {
	if len(sql) > maxText {
		return nil, false
	}
	p := parser{tokens: tokenizer{sql: sql}}
	p.next()
	if !p.keyword("select") || !p.statement() || !p.end() {
		return nil, false
	}
	f := p.form
	if !f.param && f.rows*len(f.columns) > maxIDs {
		return nil, false
	}
	return &f, true
}

// parser is a recursive descent over the grammar above with one token of lookahead. Each method that names a part of the
// grammar reports whether it stood there, and has consumed it if so; nothing is ever read twice.
type parser struct {
	tokens tokenizer
	kind   tokenKind // of the present token; its text is tokens.text()
	form   form
}

func (p *parser) next() { p.kind = p.tokens.next() }

func (p *parser) statement() bool {
	if p.mark('*') {
		return p.keyword("from") && p.ids()
	}
	p.form.rows = 1
	for {
		if !p.call() {
			return false
		}
		if !p.mark(',') {
			break
		}
	}
	if p.keyword("from") {
		return p.series()
	}
	return true
}

func (p *parser) end() bool {
	p.mark(';')
	return p.kind == tokenEnd
}

func (p *parser) call() bool {
	segment, ok := p.function("next_snowflake", "next_segment")
	if !ok || !p.mark('(') || (segment && !p.tag()) || !p.mark(')') {
		return false
	}
	if !segment && p.form.tag != nil {
		return false
	}
	// a cast leaves the column the function's name
	c := column{name: "next_snowflake"}
	if segment {
		c.name = "next_segment"
	}
	if p.mark(tokenCast) {
		switch {
		case p.keyword("text"):
			c.text = true
		case p.keyword("bigint"), p.keyword("int8"):
		default:
			return false
		}
	}
	if !p.label(&c.name) {
		return false
	}
	p.form.columns = append(p.form.columns, c)
	return true
}

func (p *parser) series() bool {
	var ignored string
	return p.name("generate_series") && p.mark('(') && p.one() && p.mark(',') && p.count() && p.mark(')') && p.alias(&ignored)
}

// ids is a set-returning function: its only column is named as the table, unless the alias names the column.
func (p *parser) ids() bool {
	segment, ok := p.function("next_snowflakes", "next_segments")
	name := "next_snowflakes"
	if segment {
		name = "next_segments"
	}
	if !ok || !p.mark('(') || (segment && !(p.tag() && p.mark(','))) || !p.count() || !p.mark(')') || !p.alias(&name) {
		return false
	}
	p.form.columns = []column{{name: name}}
	return true
}

// function reads the name of one of two answered functions, qualified or not; the one for segments is in two schemas.
func (p *parser) function(snowflake, segment string) (isSegment, ok bool) {
	switch {
	case p.name("pgflurry"):
		return true, p.mark('.') && p.name(segment)
	case p.name("public"):
		if !p.mark('.') {
			return false, false
		}
	default:
		p.form.unqualified = true
	}
	if p.name(snowflake) {
		return false, true
	}
	return true, p.name(segment)
}

// tag reads the tag: the same one in each call, and none behind an ID.
func (p *parser) tag() bool {
	t := tag{param: p.kind == tokenParam}
	text := p.tokens.text()
	switch {
	case p.kind == tokenString && len(text) > 0:
		t.text = bytes.Clone(text)
	case !t.param || string(text) != "1":
		return false
	}
	p.next()
	if p.form.tag == nil {
		p.form.tag = &t
		return len(p.form.columns) == 0
	}
	return p.form.tag.param == t.param && bytes.Equal(p.form.tag.text, t.text)
}

func (p *parser) one() bool {
	n, ok := p.number()
	return ok && n == 1
}

func (p *parser) count() bool {
	if p.kind == tokenParam {
		number := "1"
		if p.form.params() > 0 {
			number = "2"
		}
		if string(p.tokens.text()) != number {
			return false
		}
		p.form.rows, p.form.param = 0, true
		p.next()
		return true
	}
	n, ok := p.number()
	p.form.rows = n
	return ok && n >= 1
}

// number reads a decimal literal of at most maxIDs; leading zeros do not make it octal.
func (p *parser) number() (n int, ok bool) {
	if p.kind != tokenNumber {
		return 0, false
	}
	for _, digit := range p.tokens.text() {
		if n = 10*n + int(digit-'0'); n > maxIDs {
			return 0, false
		}
	}
	p.next()
	return n, true
}

// label reads the name of a column if there is one; false: something stands there that is none.
func (p *parser) label(name *string) bool {
	switch {
	case p.keyword("as"): // then any word at all
	case p.kind == tokenQuoted:
	case p.kind == tokenWord && string(p.tokens.text()) != "from":
		if needsAs(p.tokens.text()) {
			return false
		}
	default:
		return true
	}
	return p.take(name)
}

// alias reads the name of a table, and of its one column, if there is one; name becomes the column's.
func (p *parser) alias(name *string) bool {
	if !p.keyword("as") && p.kind != tokenWord && p.kind != tokenQuoted {
		return true
	}
	if !p.tableName(name) {
		return false
	}
	if p.mark('(') {
		return p.tableName(name) && p.mark(')')
	}
	return true
}

func (p *parser) tableName(name *string) bool {
	if p.kind == tokenWord && isReserved(p.tokens.text()) {
		return false
	}
	return p.take(name)
}

// take copies the identifier at hand.
func (p *parser) take(name *string) bool {
	if p.kind != tokenWord && p.kind != tokenQuoted {
		return false
	}
	*name = string(p.tokens.text())
	p.next()
	return true
}

// keyword passes one word, unquoted.
func (p *parser) keyword(word string) bool {
	if p.kind != tokenWord || string(p.tokens.text()) != word {
		return false
	}
	p.next()
	return true
}

// name passes one identifier, quoted or not.
func (p *parser) name(name string) bool {
	if (p.kind != tokenWord && p.kind != tokenQuoted) || string(p.tokens.text()) != name {
		return false
	}
	p.next()
	return true
}

func (p *parser) mark(kind tokenKind) bool {
	if p.kind != kind {
		return false
	}
	p.next()
	return true
}
