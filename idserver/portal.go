package idserver

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"pgflurry/idserver/command"
	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

// portal is a statement that runs, or will run. A cursor is a portal, too.
type portal struct {
	statement *prepared
	params    []command.Value
	formats   []uint16 // of its columns
	shape     shape
	rows      rows
	begun     bool // its rows are known, or it has none and has run
	counted   bool // as an answer
	hold      bool // it outlives its transaction
	held      bool // its transaction is over
	failed    bool // its transaction failed
	broken    bool // its rows failed once, and are not tried again
	binary    bool // a FETCH in a Query returns binary values
	tabled    bool // what is left of its table is counted as kept
	level     int  // how many savepoints there were when it was made
	cost      int
}

// fewParams is for how many parameters and formats reset keeps the memory.
const fewParams = 32

// reset empties a portal. It keeps the memory of a few parameters.
func (p *portal) reset() {
	params, formats := p.params[:0], p.formats[:0]
	clear(p.params) // frees their texts
	if cap(params) > fewParams || cap(formats) > fewParams {
		params, formats = nil, nil
	}
	*p = portal{params: params, formats: formats}
}

// shape is what rows look like: those of a form, or those of columns. The zero value stands for no rows.
type shape struct {
	form    *statement.Form
	columns []command.Column
	told    bool // there are rows
}

func (h *shape) width() int {
	if h.form != nil {
		return len(h.form.Columns)
	}
	return len(h.columns)
}

// same says whether the rows of both look alike.
func (h *shape) same(other *shape) bool {
	if h.form != nil && other.form != nil {
		return slices.Equal(h.form.Columns, other.form.Columns)
	}
	return h.form == other.form && slices.Equal(h.columns, other.columns)
}

// cost is what a statement takes for a shape that it has from another one.
func (h *shape) cost() (bytes int) {
	for _, c := range h.columns {
		bytes += costOf(c.Label)
	}
	if h.form != nil {
		for _, c := range h.form.Columns {
			bytes += costOf(c.Name)
		}
	}
	return bytes
}

// appendTo writes a RowDescription, or NoData.
func (h *shape) appendTo(b []byte, formats []uint16) []byte {
	switch {
	case !h.told:
		return append(b, wire.NoData...)
	case h.form != nil:
		return wire.AppendRowDescription(b, h.form, formats)
	}
	b, at := wire.Begin(b, wire.BackendRowDescription)
	b = binary.BigEndian.AppendUint16(b, uint16(len(h.columns)))
	for i, c := range h.columns {
		b = wire.AppendColumn(b, c.Label, c.Type, c.Width, wire.FormatOf(formats, i))
	}
	return wire.End(b, at)
}

// shapeOf is the shape of a statement's rows.
func (s *session) shapeOf(p *prepared) (shape, error) {
	switch c := p.command.(type) {
	case command.Query:
		return p.seen, nil
	case command.Show:
		columns, err := s.showColumns(c)
		return shape{columns: columns, told: true}, err
	case command.Fetch:
		if cursor := s.objects.portals[cut(c.Cursor)]; cursor != nil && !c.Move {
			return cursor.shape, nil
		}
	case command.Execute:
		if of := s.objects.statements[cut(c.Name)]; of != nil {
			if _, query := of.command.(command.Query); query {
				return s.shapeOf(of)
			}
		}
	}
	return shape{}, nil // no rows, or an error when the statement runs
}

// rows are the remaining rows of a statement. IDs are drawn only when they are written, so rows holds none.
type rows struct {
	left   int
	form   *statement.Form // for IDs, or numbers of the tag
	tag    []byte
	one    *command.Select // for a statement with constant columns
	params []command.Value
	table  [][]string // for rows of text
}

// take removes up to n rows and returns them.
func (r *rows) take(n int64) rows {
	taken := *r
	taken.left = int(min(n, int64(r.left)))
	r.left -= taken.left
	if r.table != nil {
		taken.table, r.table = r.table[:taken.left], r.table[taken.left:]
	}
	return taken
}

// rowsOf begins a statement that gives rows.
func (s *session) rowsOf(c command.Command, params []command.Value) (rows, error) {
	switch c := c.(type) {
	case command.Draw:
		return drawn(c, params)
	case *command.Select:
		return rows{left: c.Rows(), one: c, params: params}, nil
	case command.Show:
		table, err := s.show(c)
		return rows{left: len(table), table: table}, err
	case command.Fetch:
		return s.fetch(c)
	case command.Execute:
		return s.executed(c)
	}
	return rows{}, nil
}

// drawn returns the rows of a form.
func drawn(c command.Draw, params []command.Value) (rows, error) {
	r := rows{left: c.Form.Rows, form: c.Form}
	if c.Form.Params() == 0 {
		r.tag = c.Form.TagOr(nil)
		return r, nil
	}
	drawing, err := c.Bind(params)
	if err != nil {
		return rows{}, err
	}
	r.left = drawing.Rows
	if c.Form.Tag != nil {
		r.tag = []byte(drawing.Tag)
	}
	return r, nil
}

// fetch takes rows from a cursor.
func (s *session) fetch(c command.Fetch) (rows, error) {
	cursor := s.objects.portals[cut(c.Cursor)]
	if cursor == nil {
		return rows{}, noCursor(c.Cursor)
	}
	switch {
	case cursor.broken, cursor.begun && !cursor.shape.told:
		return rows{}, cannotRun(c.Cursor)
	case !cursor.shape.told:
		return rows{}, errNoRows
	}
	if err := s.beginRows(cursor); err != nil {
		return rows{}, err
	}
	return cursor.rows.take(c.Count), nil
}

// executed begins a prepared statement by its name in SQL.
func (s *session) executed(c command.Execute) (rows, error) {
	of, err := s.objects.find([]byte(c.Name))
	if err != nil {
		return rows{}, err
	}
	if _, query := of.command.(command.Query); !query {
		return rows{}, problem{
			"0A000", `prepared statement "` + c.Name + `" is no SELECT, so EXECUTE cannot run it`,
			"Bind and execute it by the extended protocol.",
		}
	}
	if len(c.Arguments) != len(of.types) {
		return rows{}, problem{
			"42601", `wrong number of parameters for prepared statement "` + c.Name + `"`,
			"It has " + strconv.Itoa(len(of.types)) + ", and " + strconv.Itoa(len(c.Arguments)) + " were given.",
		}
	}
	params := make([]command.Value, len(c.Arguments))
	for i, argument := range c.Arguments {
		if params[i], err = argument.Assign(of.types[i]); err != nil {
			return rows{}, err
		}
	}
	return s.rowsOf(of.command, params)
}

// beginRows finds out which rows a portal gives. A named portal may keep its rows for long, so they count as kept.
func (s *session) beginRows(p *portal) (err error) {
	if p.begun {
		return nil
	}
	p.begun = true
	defer func() { p.broken = err != nil }()
	if s.changed(p) {
		return errChanged
	}
	p.rows, err = s.rowsOf(p.statement.command, p.params)
	if err == nil && p != &s.objects.unnamedPortal {
		err = s.keepRows(p)
	}
	return err
}

// changed says that the portal's shape came from a cursor or statement that has other columns now.
func (s *session) changed(p *portal) bool {
	switch p.statement.command.(type) {
	case command.Fetch, command.Execute:
		now, _ := s.shapeOf(p.statement)
		return now.told && !now.same(&p.shape)
	}
	return false
}

// keepRows counts the text rows that a portal keeps.
func (s *session) keepRows(p *portal) error {
	size := 0
	for _, row := range p.rows.table {
		for _, text := range row {
			size += costOf(text)
		}
	}
	if size == 0 || p.tabled {
		return nil
	}
	if err := s.objects.keep(size); err != nil {
		p.rows.table, p.rows.left = nil, 0
		return err
	}
	p.tabled = true
	p.cost += size
	return nil
}

// writeRows writes up to most of a portal's rows, and returns how many.
func (s *session) writeRows(p *portal, most int) (n int, err error) {
	r := &p.rows
	n = min(most, r.left)
	if r.form != nil {
		err = s.writeIDs(r, n, p.formats)
		if n > 0 && err == nil && !p.counted {
			s.counts.answered(r.form)
			p.counted = true
		}
		return n, err
	}
	for range n {
		if err := cmp.Or(s.checkCancel(), s.gather()); err != nil {
			return 0, err
		}
		if err := s.writeRow(r, p.formats); err != nil {
			return 0, err
		}
		r.left--
	}
	return n, nil
}

// writeRow writes the next row that has no IDs.
func (s *session) writeRow(r *rows, formats []uint16) error {
	if r.one != nil {
		row, err := r.one.Row(environment{s}, r.params)
		if err != nil {
			return err
		}
		size := 0
		for _, v := range row {
			size += v.Size()
		}
		if err := s.objects.keep(size); err != nil { // until it is written, the session has it, too
			return err
		}
		defer func() { s.objects.kept -= size }()
		b, at := wire.Begin(s.out, wire.BackendDataRow)
		b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
		for i, v := range row {
			b = v.Append(b, wire.FormatOf(formats, i))
		}
		s.out = wire.End(b, at)
		return nil
	}
	row := r.table[0]
	r.table = r.table[1:]
	b, at := wire.Begin(s.out, wire.BackendDataRow)
	b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
	for _, text := range row {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	s.out = wire.End(b, at)
	return nil
}
