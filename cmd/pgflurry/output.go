package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table is the output of a command that lists. It prints aligned columns for people. For programs (--json) it prints an
// array of objects, or one object where the command has one answer.
//
// A column's name is the JSON key, in lower_snake: "reserved_until" has the header RESERVED UNTIL. A value is a string,
// an integer, a bool, a time.Time (printed in UTC, to the millisecond) or nil. nil and the empty string mean "not
// known", and print as "-" and null. IDs are strings: a JSON reader with float64 numbers would round them.
type table struct {
	columns []string
	rows    [][]any
}

// jsonRules ends the help of each command with --json.
const jsonRules = `In JSON numbers are numbers, but IDs are strings: JavaScript would round them. Times are RFC 3339
in UTC, durations are seconds, and null is what is not known or not there.`

// newTable makes a table without rows.
func newTable(columns ...string) *table {
	return &table{columns: columns}
}

// add appends a row: one value for each column.
func (t *table) add(values ...any) {
	if len(values) != len(t.columns) {
		panic(fmt.Sprintf("a row of %d values in a table of %d columns", len(values), len(t.columns)))
	}
	t.rows = append(t.rows, values)
}

// print writes the whole table.
func (t *table) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return t.printJSON(w)
	}
	return t.printColumns(w)
}

func (t *table) printColumns(w io.Writer) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := strings.ToUpper(strings.Join(t.columns, "\t"))
	fmt.Fprintln(aligned, strings.ReplaceAll(head, "_", " ")) // Flush returns the error, if any
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, value := range row {
			cells[i] = cell(value)
		}
		fmt.Fprintln(aligned, strings.Join(cells, "\t"))
	}
	return aligned.Flush()
}

// object is a row as JSON, with the keys in the order of the columns.
func (t *table) object(row []any) (json.RawMessage, error) {
	var out bytes.Buffer
	for i, value := range row {
		switch v := value.(type) {
		case time.Time:
			value = timestamp(v)
		case string:
			value = known(v)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", t.columns[i], err)
		}
		fmt.Fprintf(&out, ",%q:%s", t.columns[i], encoded)
	}
	return json.RawMessage("{" + out.String()[1:] + "}"), nil
}

func (t *table) printJSON(w io.Writer) error {
	objects := []json.RawMessage{}
	for _, row := range t.rows {
		object, err := t.object(row)
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	return printObject(w, objects)
}

// printOne writes the only row as JSON.
func (t *table) printOne(w io.Writer) error {
	object, err := t.object(t.rows[0])
	if err != nil {
		return err
	}
	return printObject(w, object)
}

// printObject writes JSON, indented.
func printObject(w io.Writer, object any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(object)
}

// cell formats a value for people.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case time.Time:
		return timestamp(v)
	case string:
		if v == "" {
			return "-"
		}
		return v
	default:
		return fmt.Sprint(v)
	}
}

// timestamp is RFC 3339 in UTC with milliseconds, the finest unit of an ID.
func timestamp(at time.Time) string {
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
