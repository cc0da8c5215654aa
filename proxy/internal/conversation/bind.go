package conversation

import (
	"encoding/binary"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// bindValues is what a Bind gives to a form.
type bindValues struct {
	rows    int
	tag     []byte   // a part of the message; nil if the tag is no parameter
	formats []uint16 // the formats that readBind was given, with the result formats behind them
}

// readBind reads a Bind after its two names: parameter formats, parameters, result formats. countType is the type of
// the count if that is a parameter. The result formats are appended to formats. If anything is not as the form needs
// it, ok is false, and PostgreSQL judges the message.
func readBind(b []byte, f *statement.Form, countType uint32, formats []uint16) (x bindValues, ok bool) {
	x = bindValues{rows: f.Rows}
	var few [2]uint16
	paramFormats, b, ok := wire.CutFormats(b, few[:0])
	if !ok || len(b) < 2 {
		return x, false
	}
	params := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if params != f.Params() || (len(paramFormats) > 1 && len(paramFormats) != params) {
		return x, false
	}
	if f.Tag != nil && f.Tag.Param {
		if x.tag, b, ok = wire.CutParam(b); !ok || !wire.IsTag(x.tag) { // text and binary have the same bytes
			return x, false
		}
	}
	if f.CountParam {
		var value []byte
		if value, b, ok = wire.CutParam(b); !ok {
			return x, false
		}
		n, valid := wire.ReadCount(value, countType, wire.FormatOf(paramFormats, params-1) == 1)
		if !valid || n < 1 || n > statement.MaxIDs/int64(len(f.Columns)) {
			return x, false
		}
		x.rows = int(n)
	}
	before := len(formats)
	x.formats, b, ok = wire.CutFormats(b, formats)
	given := len(x.formats) - before
	return x, ok && len(b) == 0 && (given <= 1 || given == len(f.Columns))
}
