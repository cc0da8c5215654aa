package state

import (
	"encoding/binary"

	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/internal/wire"
)

// newPortal makes the portal of a statement.
func (s *Session) newPortal(name []byte, p *Statement) (*Portal, error) {
	shape, err := s.shapeOf(p)
	if err != nil {
		return nil, err
	}
	portal, err := s.Objects.newPortal(name, p.cost)
	if err != nil {
		return nil, err
	}
	portal.statement, portal.shape, portal.level = p, shape, len(s.Transaction.savepoints)
	return portal, nil
}

// shapeOf is the shape of a statement's rows.
func (s *Session) shapeOf(p *Statement) (shape, error) {
	switch c := p.command.(type) {
	case command.Query:
		return p.seen, nil
	case command.Show:
		columns, err := s.showColumns(c)
		return shape{columns: columns, hasRows: true}, err
	case command.Fetch:
		if cursor := s.Objects.cursor(c.Cursor); cursor != nil {
			return cursor.shape, nil
		}
	}
	return shape{}, nil // no rows, or an error when the statement runs
}

// rowsOf begins a statement that gives rows.
func (s *Session) rowsOf(c command.Command, params []command.Value) (Rows, error) {
	switch c := c.(type) {
	case command.Draw:
		return drawn(c, params)
	case *command.Select:
		return Rows{Left: 1, one: c, params: params}, nil
	case *command.Catalog:
		table := c.Rows(params)
		return Rows{Left: len(table), table: table}, nil
	case command.Show:
		_, table, err := s.show(c)
		return Rows{Left: len(table), table: table}, err
	case command.Fetch:
		return s.fetch(c)
	}
	return Rows{}, nil
}

// fetch takes rows from a cursor.
func (s *Session) fetch(c command.Fetch) (Rows, error) {
	cursor := s.Objects.cursor(c.Cursor)
	if cursor == nil {
		return Rows{}, noCursor(c.Cursor)
	}
	switch {
	case cursor.broken, cursor.begun && !cursor.shape.hasRows:
		return Rows{}, cannotRun(c.Cursor)
	case !cursor.shape.hasRows:
		return Rows{}, errNoRows
	}
	if err := s.BeginRows(cursor); err != nil {
		return Rows{}, err
	}
	return cursor.Rows.take(c.Count), nil
}

// BeginRows finds out which rows a portal gives. A named portal may keep its rows for long, so they count as kept.
func (s *Session) BeginRows(p *Portal) (err error) {
	if p.begun {
		return nil
	}
	p.begun = true
	defer func() { p.broken = err != nil }()
	if s.changed(p) {
		return errChanged
	}
	p.Rows, err = s.rowsOf(p.statement.command, p.params)
	if err == nil && p != &s.Objects.unnamedPortal {
		err = s.keepRows(p)
	}
	return err
}

// changed says that the portal's shape came from a cursor that has other columns now.
func (s *Session) changed(p *Portal) bool {
	switch p.statement.command.(type) {
	case command.Fetch:
		now, _ := s.shapeOf(p.statement)
		return now.hasRows && !now.same(&p.shape)
	}
	return false
}

// keepRows counts the text rows that a portal keeps.
func (s *Session) keepRows(p *Portal) error {
	size := 0
	for _, row := range p.Rows.table {
		for _, text := range row {
			size += CostOf(text)
		}
	}
	if size == 0 || p.tabled {
		return nil
	}
	if err := s.Kept.Add(size); err != nil {
		p.Rows.table, p.Rows.Left = nil, 0
		return err
	}
	p.tabled = true
	p.cost += size
	return nil
}

// AppendRow appends the next row of a portal that gives no IDs.
func (s *Session) AppendRow(b []byte, p *Portal) ([]byte, error) {
	r := &p.Rows
	if r.one != nil {
		row, err := r.one.Row(environment{s}, r.params)
		if err != nil {
			return b, err
		}
		size := 0
		for _, v := range row {
			size += v.Size()
		}
		if err := s.Kept.Add(size); err != nil { // until it is written, the session has it, too
			return b, err
		}
		defer s.Kept.Free(size)
		b, at := wire.Begin(b, wire.BackendDataRow)
		b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
		for i, v := range row {
			b = v.Append(b, wire.FormatOf(p.Formats, i))
		}
		r.Left--
		return wire.End(b, at), nil
	}
	row := r.table[0]
	r.table = r.table[1:]
	b, at := wire.Begin(b, wire.BackendDataRow)
	b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
	for _, text := range row {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	r.Left--
	return wire.End(b, at), nil
}
