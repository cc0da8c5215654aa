package statement

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tokens is a statement as tokens. In its text, random space and comments are between them.
type tokens []string

var (
	space = rapid.SampledFrom([]string{
		" ", " ", "\n", "\t", "\r\n", "\f", "  ", "/**/", "/* x */", "/* /* nested */ ' \" */", "-- line\n", "--\r",
		"/*/**/*/", "/***/",
	})
	label = rapid.SampledFrom([]string{"id", "x", "name", "value", "_1", "a$b", "is", "key", "next_snowflake", "g"})
)

// join writes the tokens down. Between two tokens that would become one it puts space, between others only sometimes.
func (ts tokens) join(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(optional(t, space))
	for i, token := range ts {
		if i > 0 {
			previous := ts[i-1]
			if runsOn(previous[len(previous)-1]) && runsOn(token[0]) {
				b.WriteString(space.Draw(t, "space"))
			}
			if rapid.IntRange(0, 3).Draw(t, "more") == 0 {
				b.WriteString(optional(t, space))
			}
		}
		b.WriteString(token)
	}
	b.WriteString(optional(t, space))
	return b.String()
}

// runsOn says whether two neighbours of this kind would become one token: letters, digits, $, and quotes, since two
// quotes are a doubled one.
func runsOn(c byte) bool {
	return startsIdentifier(c) || isDigit(c) || c == '$' || c == '"' || c == '\''
}

func optional(t *rapid.T, g *rapid.Generator[string]) string {
	if rapid.Bool().Draw(t, "with") {
		return g.Draw(t, "text")
	}
	return ""
}

// spell writes a word in random case, or quoted if a name may be quoted there.
func spell(t *rapid.T, word string, quotable bool) string {
	if quotable && rapid.IntRange(0, 3).Draw(t, "quoted") == 0 {
		return `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	b := []byte(word)
	for i := range b {
		if 'a' <= b[i] && b[i] <= 'z' && rapid.Bool().Draw(t, "upper") {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// drawName draws a name and its spelling. Only after AS may it be any word.
func drawName(t *rapid.T, bare bool) (name, spelt string) {
	switch rapid.IntRange(0, 3).Draw(t, "kind of name") {
	case 0:
		name = rapid.StringMatching(`[ -~]{1,20}`).Draw(t, "quoted name")
		return name, `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	case 1:
		if !bare {
			name = rapid.SampledFrom([]string{"select", "from", "year", "as", "order", "with"}).Draw(t, "keyword")
			return name, spell(t, name, false)
		}
	}
	name = label.Draw(t, "name")
	return name, spell(t, name, true)
}

func drawFunction(t *rapid.T, f *Form, name string) tokens {
	f.Function = name
	if rapid.Bool().Draw(t, "qualified") {
		schema := "public"
		if f.Tag != nil {
			schema = rapid.SampledFrom([]string{"public", "pgflurry"}).Draw(t, "schema")
		}
		f.Names |= NamesOf(schema + "." + name)
		return tokens{spell(t, schema, true), ".", spell(t, name, true)}
	}
	f.Names |= NamesOf(name)
	return tokens{spell(t, name, true)}
}

func drawCount(t *rapid.T, f *Form, most int) string {
	if rapid.Bool().Draw(t, "parameter") {
		number := 1 + f.Params()
		f.CountParam, f.Rows = true, 0
		return fmt.Sprint("$", number)
	}
	f.Rows = rapid.IntRange(1, most).Draw(t, "rows")
	return fmt.Sprint(optional(t, rapid.Just("00")), f.Rows)
}

// drawTag gives the form numbers of a tag, as often as IDs.
func drawTag(t *rapid.T, f *Form) {
	switch rapid.IntRange(0, 3).Draw(t, "source") {
	case 0:
		f.Tag = &Tag{Param: true}
	case 1:
		f.Tag = &Tag{Text: []byte(rapid.StringMatching(`[ -\[\]-~\n\t]{1,20}`).Draw(t, "tag"))}
	}
}

// write returns the tag's spelling.
func (t *Tag) write() string {
	if t.Param {
		return "$1"
	}
	return "'" + strings.ReplaceAll(string(t.Text), "'", "''") + "'"
}

func drawAlias(t *rapid.T, name *string) (ts tokens) {
	if !rapid.Bool().Draw(t, "alias") {
		return nil
	}
	if rapid.Bool().Draw(t, "as") {
		ts = append(ts, spell(t, "as", false))
	}
	var spelt string
	if *name, spelt = drawName(t, true); IsReserved([]byte(strings.ToLower(spelt))) {
		spelt = `"` + *name + `"` // "is" may name a column, but not a table
	}
	ts = append(ts, spelt)
	if rapid.Bool().Draw(t, "column") {
		*name = label.Draw(t, "column name")
		ts = append(ts, "(", `"`+*name+`"`, ")")
	}
	return ts
}

func drawForm(t *rapid.T) (Form, tokens) {
	f := Form{Rows: 1}
	ts := tokens{spell(t, "select", false)}
	if rapid.IntRange(0, 2).Draw(t, "shape") == 0 {
		name, one := "next_snowflake", rapid.Bool().Draw(t, "one")
		if drawTag(t, &f); f.Tag != nil {
			name = "next_segment"
		}
		if !one {
			name += "s"
		}
		ts = append(ts, "*", spell(t, "from", false))
		ts = append(ts, drawFunction(t, &f, name)...)
		ts = append(ts, "(")
		if f.Tag != nil {
			ts = append(ts, f.Tag.write())
		}
		if f.Tag != nil && !one {
			ts = append(ts, ",")
		}
		if !one {
			ts = append(ts, drawCount(t, &f, MaxIDs))
		}
		ts = append(ts, ")")
		ts = append(ts, drawAlias(t, &name)...)
		f.Columns = []Column{{Name: name}}
	} else {
		drawTag(t, &f)
		for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
			if i > 0 {
				ts = append(ts, ",")
			}
			ts = append(ts, drawCall(t, &f)...)
		}
		if rapid.Bool().Draw(t, "series") {
			ts = append(ts, spell(t, "from", false), spell(t, "generate_series", true), "(", "1", ",",
				drawCount(t, &f, MaxIDs/len(f.Columns)), ")")
			f.Series = f.CountParam
			f.Names |= NamesOf("generate_series")
			var ignored string
			ts = append(ts, drawAlias(t, &ignored)...)
		}
	}
	if rapid.Bool().Draw(t, "semicolon") {
		ts = append(ts, ";")
	}
	return f, ts
}

func drawCall(t *rapid.T, f *Form) tokens {
	c := Column{Name: "next_snowflake"}
	if f.Tag != nil {
		c.Name = "next_segment"
	}
	typ := rapid.SampledFrom([]string{"", "bigint", "int8", "text"}).Draw(t, "type")
	var ts tokens
	cast := typ != "" && rapid.Bool().Draw(t, "CAST")
	if cast {
		ts = tokens{spell(t, "cast", false), "("}
	}
	ts = append(append(ts, drawFunction(t, f, c.Name)...), "(")
	if f.Tag != nil {
		ts = append(ts, f.Tag.write())
	}
	ts = append(ts, ")")
	c.Text = typ == "text"
	f.Names |= NamesOf(typ)
	switch {
	case cast:
		ts = append(ts, spell(t, "as", false), spell(t, typ, false), ")")
	case typ != "":
		ts = append(ts, "::", spell(t, typ, false))
	}
	if rapid.Bool().Draw(t, "label") {
		as := rapid.Bool().Draw(t, "as")
		name, spelt := drawName(t, !as)
		if as {
			ts = append(ts, spell(t, "as", false))
		}
		c.Name = name
		ts = append(ts, spelt)
	}
	f.Columns = append(f.Columns, c)
	return ts
}

func TestMatchFindsEveryFormHoweverItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, ts := drawForm(t)
		sql := ts.join(t)
		if len(sql) > maxText {
			t.Skip("too long")
		}
		got, ok := Match([]byte(sql))
		if !ok || !reflect.DeepEqual(*got, want) {
			t.Fatalf("Match(%q) = %+v, %v; want %+v", sql, got, ok, want)
		}
		checkSound(t, sql)
	})
}

// The texts most likely to be mistaken for a form are forms with a token dropped, doubled, swapped or replaced.
func TestMatchIsNotFooledByAlmostForms(t *testing.T) {
	stray := rapid.SampledFrom(append([]string{
		"'", `"`, "+", "-", "/", "::", ":", "[", "]", "?", "@", "0", "1", "2", "10001", "$1", "$2", "1.5", "1e3", "0x1",
		"all", "distinct", "where", "limit", "into", "null", "cast", "collate", "over", "filter", "array", "\v", "\x00",
		"é", "e'x'", "u&",
	}, "select", "from", "as", "public", "next_snowflake", "next_snowflakes", "generate_series", "(", ")", ",", ".",
		";", "*", "text", "next_segment", "next_segments", "pgflurry", "'order'", "'", `'\'`, "E'a'", "''"))
	rapid.Check(t, func(t *rapid.T) {
		_, ts := drawForm(t)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			i := rapid.IntRange(0, len(ts)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				if len(ts) > 1 {
					ts = append(ts[:i:i], ts[i+1:]...)
				}
			case 1:
				ts[i] = stray.Draw(t, "stray")
			case 2:
				ts = append(ts[:i:i], append(tokens{stray.Draw(t, "stray")}, ts[i:]...)...)
			case 3:
				j := rapid.IntRange(0, len(ts)-1).Draw(t, "with")
				ts[i], ts[j] = ts[j], ts[i]
			}
		}
		checkSound(t, ts.join(t))
	})
}
