package statement

import "bytes"

// The answered forms. Parts in brackets are optional. Keywords and names may be in any case, names also quoted.
// Comments and space may stand between any two tokens.
//
//	statement  SELECT call {, call} [FROM series] [;]
//	           SELECT * FROM ids [;]
//	call       {value [::type] | CAST(value AS type)} [[AS] label]
//	type       bigint | int8 | text
//	value      [public.] next_snowflake() | [public. | pgflurry.] next_segment(tag)
//	series     generate_series(1, count) [alias]
//	ids        {value | [public.] next_snowflakes(count) | [public. | pgflurry.] next_segments(tag, count)} [alias]
//	count      1 … 10000, also in single quotes | $1, or $2 where the tag is $1
//	tag        'text' without a backslash | $1
//	alias      [AS] name [(name)]
//
// The values of a statement are either all IDs or all numbers of one tag.
//
// Apart from the digits, PostgreSQL's answer to each of these forms is known to the last byte. Anything else is
// forwarded. If Match refuses a statement that PostgreSQL accepts, that costs a round trip. The opposite would be a
// wrong answer.

const (
	// MaxIDs is the most IDs, or numbers of a tag, in one answer: columns times rows.
	MaxIDs = 10_000
	// maxText is the longest statement that Match reads, in bytes. It also limits the columns, far below PostgreSQL's
	// 1664.
	maxText = 1 << 10
)

// Form is an answered form: its columns, its rows, and where the count comes from. It is immutable, so it may be
// shared.
type Form struct {
	// Columns has at least one.
	Columns []Column
	// Rows is the literal count: 1 … MaxIDs/len(Columns). It is 1 without FROM, and 0 if the count is a parameter.
	Rows int
	// CountParam means that the count is the last parameter. The caller that binds it keeps rows times columns within
	// MaxIDs.
	CountParam bool
	// Series means that this parameter ends a generate_series, which makes it an integer. Otherwise it is a bigint.
	Series bool
	// Function is whose values the rows have, without its schema.
	Function string
	// Names is what PostgreSQL has to look up to understand the form.
	Names Names
	// Tag is the tag of the numbers; nil: the values are IDs.
	Tag *Tag
}

// Tag is the business tag that an answered form names.
type Tag struct {
	// Text is ASCII, 1 to MaxTagBytes bytes; nil if the tag is a parameter.
	Text []byte
	// Param means that the tag is $1.
	Param bool
}

// Column is one column of an answered form.
type Column struct {
	// Name is the label of the column in RowDescription.
	Name string
	// Text means that the column's type is text, otherwise bigint.
	Text bool
}

// Params is how many parameters the form has, in this order: the tag, the count.
func (f *Form) Params() (n int) {
	if f.Tag != nil && f.Tag.Param {
		n++
	}
	if f.CountParam {
		n++
	}
	return n
}

// TagOr is the tag of the form, or bound if the tag is a parameter. It is nil for IDs.
func (f *Form) TagOr(bound []byte) []byte {
	switch {
	case f.Tag == nil:
		return nil
	case f.Tag.Param:
		return bound
	}
	return f.Tag.Text
}

// Match reports whether sql is an answered form, and which. False means forward. It does not keep sql, and a refusal
// allocates nothing. It may be called concurrently.
func Match(sql []byte) (*Form, bool) {
	if len(sql) > maxText {
		return nil, false
	}
	p := parser{tokens: tokenizer{cursor: cursor{sql: sql}}}
	p.next()
	if !p.keyword("select") || !p.statement() || !p.end() {
		return nil, false
	}
	f := p.form
	if !f.CountParam && f.Rows*len(f.Columns) > MaxIDs {
		return nil, false
	}
	return &f, true
}

// parser descends recursively over the grammar above, with one token of lookahead. Each method named after a part of
// the grammar reports whether that part came next, and has read it if so. Nothing is read twice.
type parser struct {
	tokens tokenizer
	kind   Kind // of the present token; its text is tokens.text()
	form   Form
}

func (p *parser) next() { p.kind = p.tokens.next() }

func (p *parser) statement() bool {
	if p.mark('*') {
		return p.keyword("from") && p.ids()
	}
	p.form.Rows = 1
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
	return p.kind == KindEnd
}

func (p *parser) call() bool {
	cast := p.keyword("cast")
	if cast && !p.mark('(') {
		return false
	}
	function, ok := p.function(nextSnowflake, nextSegment)
	segment := function == nextSegment
	if !ok || !p.mark('(') || (segment && !p.tag()) || !p.mark(')') || !segment && p.form.Tag != nil {
		return false
	}
	c := Column{Name: p.form.Function} // also if it is cast
	switch {
	case cast:
		ok = p.keyword("as") && p.columnType(&c) && p.mark(')')
	case p.mark(KindCast):
		ok = p.columnType(&c)
	}
	if !ok || !p.label(&c.Name) {
		return false
	}
	p.form.Columns = append(p.form.Columns, c)
	return true
}

func (p *parser) columnType(c *Column) bool {
	switch {
	case p.keyword("text"):
		c.Text = true
		p.form.Names |= nameOf(unqualified, typeText)
	case p.keyword("int8"):
		p.form.Names |= nameOf(unqualified, typeInt8)
	case p.keyword("bigint"): // no name: the grammar knows this word
	default:
		return false
	}
	return true
}

func (p *parser) series() bool {
	var ignored string
	ok := p.name("generate_series") && p.mark('(') && p.one() && p.mark(',') && p.count() && p.mark(')') &&
		p.alias(&ignored)
	p.form.Series = p.form.CountParam
	p.form.Names |= nameOf(unqualified, generateSeries)
	return ok
}

// ids reads a function in FROM. Its only column has the table's name, unless the alias names the column.
func (p *parser) ids() bool {
	function, ok := p.function(nextSnowflakes, nextSegments, nextSnowflake, nextSegment)
	name := p.form.Function
	switch ok = ok && p.mark('('); function {
	case nextSnowflakes:
		ok = ok && p.count()
	case nextSegments:
		ok = ok && p.tag() && p.mark(',') && p.count()
	case nextSnowflake:
		p.form.Rows = 1
	case nextSegment:
		p.form.Rows = 1
		ok = ok && p.tag()
	}
	if !ok || !p.mark(')') || !p.alias(&name) {
		return false
	}
	p.form.Columns = []Column{{Name: name}}
	return true
}

// function reads the name of one of some answered functions, with or without its schema. Those for segments lie in
// pgflurry, and may be reached by an alias in public.
func (p *parser) function(some ...int) (function int, ok bool) {
	in := unqualified
	switch {
	case p.name("pgflurry"):
		in = inPgflurry
	case p.name("public"):
		in = inPublic
	}
	if in != unqualified && !p.mark('.') {
		return 0, false
	}
	for _, function := range some {
		segment := function == nextSegment || function == nextSegments
		if (segment || in != inPgflurry) && p.name(words[function]) {
			p.form.Function = words[function]
			p.form.Names |= nameOf(in, function)
			return function, true
		}
	}
	return 0, false
}

// tag reads the tag. Each call must have the same one, and a call for IDs must not come before it.
func (p *parser) tag() bool {
	t := Tag{Param: p.kind == KindParam}
	text := p.tokens.text()
	switch {
	case p.kind == KindString && len(text) > 0:
		t.Text = bytes.Clone(text)
	case !t.Param || string(text) != "1":
		return false
	}
	p.next()
	if p.form.Tag == nil {
		p.form.Tag = &t
		return len(p.form.Columns) == 0
	}
	return p.form.Tag.Param == t.Param && bytes.Equal(p.form.Tag.Text, t.Text)
}

func (p *parser) one() bool {
	n, ok := p.number()
	return ok && n == 1
}

func (p *parser) count() bool {
	if p.kind == KindParam {
		number := "1"
		if p.form.Params() > 0 {
			number = "2"
		}
		if string(p.tokens.text()) != number {
			return false
		}
		p.form.Rows, p.form.CountParam = 0, true
		p.next()
		return true
	}
	if p.kind == KindString { // some drivers put parameters into the text; PostgreSQL makes a number of it
		p.kind = KindNumber
	}
	n, ok := p.number()
	p.form.Rows = n
	return ok && n >= 1
}

// number reads a decimal literal of at most MaxIDs. Leading zeros do not make it octal.
func (p *parser) number() (n int, ok bool) {
	if p.kind != KindNumber {
		return 0, false
	}
	for _, digit := range p.tokens.text() {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		if n = 10*n + int(digit-'0'); n > MaxIDs {
			return 0, false
		}
	}
	p.next()
	return n, true
}

// label reads the name of a column if there is one. It returns false if the next word cannot be a label.
func (p *parser) label(name *string) bool {
	switch {
	case p.keyword("as"): // then any word will do
	case p.kind == KindQuoted:
	case p.kind == KindWord && string(p.tokens.text()) != "from":
		if NeedsAs(p.tokens.text()) {
			return false
		}
	default:
		return true
	}
	return p.take(name)
}

// alias reads the name of a table and of its one column, if there is one. name becomes the column's name.
func (p *parser) alias(name *string) bool {
	if !p.keyword("as") && p.kind != KindWord && p.kind != KindQuoted {
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
	if p.kind == KindWord && IsReserved(p.tokens.text()) {
		return false
	}
	return p.take(name)
}

// take copies the next identifier.
func (p *parser) take(name *string) bool {
	if p.kind != KindWord && p.kind != KindQuoted {
		return false
	}
	*name = string(p.tokens.text())
	p.next()
	return true
}

// keyword reads one word, unquoted.
func (p *parser) keyword(word string) bool {
	if p.kind != KindWord || string(p.tokens.text()) != word {
		return false
	}
	p.next()
	return true
}

// name reads one identifier, quoted or not.
func (p *parser) name(name string) bool {
	if (p.kind != KindWord && p.kind != KindQuoted) || string(p.tokens.text()) != name {
		return false
	}
	p.next()
	return true
}

func (p *parser) mark(kind Kind) bool {
	if p.kind != kind {
		return false
	}
	p.next()
	return true
}
