package state

import (
	"slices"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/statement"
)

// Portal is a statement that runs, or will run. A cursor is a portal, too.
type Portal struct {
	Rows      Rows
	Formats   []uint16 // of its columns
	statement *Statement
	params    []command.Value
	shape     shape
	begun     bool // its rows are known, or it has none and has run
	counted   bool // as an answer
	hold      bool // it outlives its transaction
	held      bool // its transaction is over
	failed    bool // its transaction failed
	broken    bool // its rows failed once, and are not tried again
	tabled    bool // what is left of its table is counted as kept
	level     int  // how many savepoints there were when it was made
	cost      int
}

// fewParams is for how many parameters and formats reset keeps the memory.
const fewParams = 32

// reset empties a portal. It keeps the memory of a few parameters.
func (p *Portal) reset() {
	params, formats := p.params[:0], p.Formats[:0]
	clear(p.params) // frees their texts
	if cap(params) > fewParams || cap(formats) > fewParams {
		params, formats = nil, nil
	}
	*p = Portal{params: params, Formats: formats}
}

// Empty says that its statement is an empty text.
func (p *Portal) Empty() bool { return p.statement.command == nil }

// Tag is the tag of its CommandComplete, without the number of rows.
func (p *Portal) Tag() string { return p.statement.command.Tag() }

// CommitsAtOnce says whether its Execute ends a transaction that is no block, without waiting for a Sync.
func (p *Portal) CommitsAtOnce() bool {
	switch c := p.statement.command.(type) {
	case command.Begin, command.Commit, command.Rollback, command.Savepoint, command.Release, command.RollbackTo:
		return true
	case command.Discard:
		return c.What == "ALL"
	}
	return false
}

// HasRows says that it gives rows, perhaps none.
func (p *Portal) HasRows() bool { return p.shape.hasRows }

// AppendDescription writes its RowDescription, or NoData.
func (p *Portal) AppendDescription(b []byte) []byte { return p.shape.appendTo(b, p.Formats) }

// Wrote notes the outcome of writing some of its rows. Rows that failed are not tried again.
func (p *Portal) Wrote(err error) { p.broken = err != nil }

// FirstAnswer is true once: for the first rows with IDs or numbers.
func (p *Portal) FirstAnswer() bool {
	first := !p.counted
	p.counted = true
	return first
}

// setParams reads the values of the parameters from a Bind.
func (p *Portal) setParams(m *reader, formats codes) error {
	p.params = slices.Grow(p.params, len(p.statement.types))
	for i, oid := range p.statement.types {
		raw, ok := m.parameter()
		if !ok {
			return ErrMessage
		}
		code := formats.of(i)
		if code > 1 {
			return noFormat(code)
		}
		value, err := command.Decode(oid, code, raw)
		if err != nil {
			return err
		}
		p.params = append(p.params, value)
	}
	return nil
}

// setFormats sets the formats of the columns.
func (p *Portal) setFormats(results codes) error {
	if !p.shape.hasRows {
		return nil
	}
	if width := p.shape.width(); results.count > 1 && results.count != width {
		return fault.Errorf("08P01", "", "bind message has %d result formats but query has %d columns",
			results.count, width)
	}
	for i := range results.count {
		code := results.of(i)
		if code > 1 {
			return noFormat(code)
		}
		p.Formats = append(p.Formats, code)
	}
	return nil
}

// Rows are the remaining rows of a statement. IDs are drawn only when they are written, so Rows holds none.
type Rows struct {
	Left int
	// Form is that of IDs, or of numbers of the tag; nil: AppendRow writes the rows.
	Form *statement.Form
	Tag  []byte

	one    *command.Select // for a statement with constant columns
	params []command.Value
	table  [][]string // for rows of text
}

// take removes up to n rows and returns them.
func (r *Rows) take(n int64) Rows {
	taken := *r
	taken.Left = int(min(n, int64(r.Left)))
	r.Left -= taken.Left
	if r.table != nil {
		taken.table, r.table = r.table[:taken.Left], r.table[taken.Left:]
	}
	return taken
}

// drawn returns the rows of a form.
func drawn(c command.Draw, params []command.Value) (Rows, error) {
	r := Rows{Left: c.Form.Rows, Form: c.Form}
	if c.Form.Params() == 0 {
		r.Tag = c.Form.TagOr(nil)
		return r, nil
	}
	drawing, err := c.Bind(params)
	if err != nil {
		return Rows{}, err
	}
	r.Left = drawing.Rows
	if c.Form.Tag != nil {
		r.Tag = []byte(drawing.Tag)
	}
	return r, nil
}
