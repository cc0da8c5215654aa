package state

import (
	"encoding/binary"
	"slices"

	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// shape is what rows look like: those of a form, or those of columns. The zero value stands for no rows.
type shape struct {
	form    *statement.Form
	columns []command.Column
	hasRows bool
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
		bytes += CostOf(c.Label)
	}
	if h.form != nil {
		for _, c := range h.form.Columns {
			bytes += CostOf(c.Name)
		}
	}
	return bytes
}

// appendTo writes a RowDescription, or NoData.
func (h *shape) appendTo(b []byte, formats []uint16) []byte {
	switch {
	case !h.hasRows:
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
