package command

import (
	"unicode/utf8"

	"pgflurry/internal/fault"
	"pgflurry/proxy/statement"
)

// Types are the types of the tag and of the count, if these are parameters, and of any others that the client declares.
func (d Draw) Types(declared []uint32) ([]uint32, error) {
	types, err := startTypes(declared, d.Form.Params())
	if err != nil {
		return nil, err
	}
	at := 0
	if d.Form.Tag != nil && d.Form.Tag.Param {
		if types[at] == 0 {
			types[at] = Text
		}
		if !fits(types[at], Text) {
			return nil, noFunction(d.function(), types[:d.Form.Params()])
		}
		at++
	}
	if d.Form.CountParam {
		if types[at] == 0 {
			types[at] = Int8
			if d.Form.Series {
				types[at] = Int4
			}
		}
		if kindOf(types[at]) != kindInteger {
			return nil, noFunction(d.function(), types[at:at+1])
		}
	}
	return types, Determined(types)
}

// function is the name of the function with the parameters, for errors.
func (d Draw) function() string {
	if d.Form.Series {
		return "generate_series"
	}
	return d.Form.Function
}

// Columns are the columns of the form.
func (d Draw) Columns([]uint32) []Column {
	columns := make([]Column, len(d.Form.Columns))
	for i, c := range d.Form.Columns {
		columns[i] = column(c.Name, Int8)
		if c.Text {
			columns[i] = column(c.Name, Text)
		}
	}
	return columns
}

// Drawing is a Draw whose parameters have values.
type Drawing struct {
	Tag  string // the tag of the numbers; empty for IDs
	Rows int    // 0 to 10000, divided by the number of columns
}

// Bind gives a Draw the values of its parameters, of the types that Types returned. The errors are those of the
// functions.
func (d Draw) Bind(params []Value) (Drawing, error) {
	drawing := Drawing{Rows: d.Form.Rows}
	if n := d.Form.Params(); len(params) < n {
		return drawing, fault.Errorf(codeNoParameter, "", "there is no parameter $%d", n)
	}
	if d.Form.CountParam {
		rows, err := d.rows(params[d.Form.Params()-1])
		if err != nil {
			return drawing, err
		}
		drawing.Rows = rows
	}
	if tag := d.Form.Tag; tag != nil {
		drawing.Tag = string(tag.Text)
		if tag.Param && drawing.Rows > 0 { // without a row no function is called
			text, ok := params[0].String()
			drawing.Tag = text
			return drawing, d.checkTag(text, ok)
		}
	}
	return drawing, nil
}

func (d Draw) checkTag(tag string, ok bool) error {
	switch n := utf8.RuneCountInString(tag); {
	case !ok:
		return fault.Errorf(codeParameterValue, hintTags, "%s: the tag is null, not 1 to 128", d.Form.Function)
	case n < 1 || n > statement.MaxTagBytes:
		return fault.Errorf(codeParameterValue, hintTags, "%s: the tag has %d characters, not 1 to 128",
			d.Form.Function, n)
	}
	return nil
}

const hintTags = "The tags are in pgflurry.segment.biz_tag."

// rows is the count. A series that ends before 1 has no rows; the functions refuse such a count.
func (d Draw) rows(v Value) (int, error) {
	n, ok := v.Int()
	if d.Form.Series {
		if most := statement.MaxIDs / len(d.Form.Columns); n > int64(most) {
			return 0, fault.Errorf(codeProgramLimit, "Ask in several statements.",
				"generate_series ends at %d, and a statement with %d columns gives at most %d rows here",
				n, len(d.Form.Columns), most)
		}
		return int(max(n, 0)), nil
	}
	if !ok {
		return 0, fault.Errorf(codeParameterValue, "", "%s: n is null, not 1 to 10000", d.function())
	}
	if n < 1 || n > statement.MaxIDs {
		return 0, fault.Errorf(codeParameterValue, "For more call it again.", "%s: n is %d, not 1 to 10000",
			d.function(), n)
	}
	return int(n), nil
}
