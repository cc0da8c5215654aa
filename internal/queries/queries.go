// Package queries reads a file of SQL whose statements have names. So a room keeps all its statements in one file, next
// to the code that sends them, and psql -f understands it:
//
//	-- name: last_applied
//	-- Reads the number of the last migration; 0: there is none.
//	SELECT coalesce(max(number), 0) FROM pgflurry.migration;
//
// A line "-- name: …" begins a statement, which ends before the next such line. The comments below that line are sent
// with it, so the log of a server shows them. Before the first one the file has only comments.
//
// The room lists the names as the fields of a struct:
//
//	//go:embed queries.sql
//	var text string
//
//	var sql = queries.Read[struct {
//		LastApplied string
//	}](text)
//
// The compiler finds a name that is not listed. Read finds one without a statement, a statement that nobody lists, and
// two of one name: the program does not start. A linter finds a field that no code uses.
package queries

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Read returns a struct of strings with the statements of a file: field LastApplied has the one named last_applied. It
// panics if fields and statements are not the same, because then the program was built from a wrong file.
func Read[T any](text string) T {
	var list T
	if err := fill(reflect.ValueOf(&list).Elem(), text); err != nil {
		panic(fmt.Errorf("queries: %w", err))
	}
	return list
}

// fill sets each field of a struct to the statement of its name.
func fill(list reflect.Value, text string) error {
	statements, err := Split(text)
	if err != nil {
		return err
	}
	for i := range list.NumField() {
		name := snake(list.Type().Field(i).Name)
		sql, is := statements[name]
		if !is {
			return fmt.Errorf("no statement is named %s, which the code uses", name)
		}
		list.Field(i).SetString(sql)
		delete(statements, name)
	}
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		return fmt.Errorf("statement %s is not used by the code", name)
	}
	return nil
}

// title is the line that begins a statement.
var title = regexp.MustCompile(`^-- name: ([a-z][a-z0-9_]*)$`)

// like is a line that was probably meant to be one.
var like = regexp.MustCompile(`(?i)^-- ?name ?:`)

// Split returns the statements of a file by their names.
func Split(text string) (map[string]string, error) {
	list := make(map[string]string)
	last := "" // the statement that the line belongs to
	for number, line := range strings.Split(text, "\n") {
		switch named := title.FindStringSubmatch(line); {
		case named != nil:
			if _, twice := list[named[1]]; twice {
				return nil, fmt.Errorf("line %d: a second statement is named %s", number+1, named[1])
			}
			last = named[1]
			list[last] = ""
		case like.MatchString(line):
			return nil, fmt.Errorf("line %d is %q; expected a line such as %q", number+1, line, "-- name: last_applied")
		case last != "":
			list[last] += line + "\n"
		case line != "" && !strings.HasPrefix(line, "--"):
			return nil, fmt.Errorf("line %d stands before the first \"-- name: \"; expected only comments", number+1)
		}
	}
	for name, sql := range list {
		if sql = strings.TrimSpace(sql); sql == "" {
			return nil, fmt.Errorf("statement %s is empty", name)
		}
		list[name] = sql + "\n"
	}
	return list, nil
}

// snake returns last_applied for LastApplied.
func snake(field string) string {
	var name strings.Builder
	for i, r := range field {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				name.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		name.WriteRune(r)
	}
	return name.String()
}
