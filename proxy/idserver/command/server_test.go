package command_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
	"pgflurry/tests/support/server"
)

var typeNames = map[string]uint32{
	"bool": command.Bool, "int8": command.Int8, "int2": command.Int2, "int4": command.Int4,
	"text": command.Text, "varchar": command.Varchar,
}

// firstOf is a value, or the code of an error.
func firstOf(t *testing.T, what string, give func() ([]byte, error)) (value, code string) {
	t.Helper()
	got, err := give()
	switch {
	case err != nil && codeOf(err) == "":
		t.Fatalf("%s: %v", what, err)
	case err != nil:
		return "", codeOf(err)
	case got == nil:
		return "NULL", ""
	}
	return string(got), ""
}

// session answers a SELECT with the values of a real one.
type session struct {
	t    *testing.T
	conn *pgconn.PgConn
}

func (s session) ask(sql string, params ...[]byte) ([]byte, error) {
	return s.value(s.conn.ExecParams(s.t.Context(), sql, params, nil, nil, nil).Read())
}

// value is the first value of the first row; nil if there is none. Its error is like one of ours.
func (s session) value(result *pgconn.Result) ([]byte, error) {
	var e *pgconn.PgError
	switch {
	case errors.As(result.Err, &e):
		return nil, fault.Error{SQLState: e.Code, Message: e.Message}
	case result.Err != nil:
		s.t.Fatal(result.Err)
	case len(result.Rows) == 0:
		return nil, nil
	}
	return result.Rows[0][0], nil
}

func (s session) must(sql string) string {
	value, err := s.ask(sql)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(value)
}

func (s session) Version() string  { return s.must("SELECT version()") }
func (s session) Database() string { return s.must("SELECT current_database()") }
func (s session) User() string     { return s.must("SELECT current_user") }
func (s session) PID() int32       { return int32(s.conn.PID()) }

// Now is never compared.
func (s session) Now() int64 { return 0 }

func (s session) Setting(name string) (string, bool) {
	value, err := s.ask("SELECT current_setting($1, true)", []byte(name))
	return string(value), err == nil && value != nil
}

func (s session) Set(name string, value *string, _ bool) (string, error) {
	var given []byte
	if value != nil {
		given = []byte(*value)
	}
	now, err := s.ask("SELECT set_config($1, $2, false)", []byte(name), given)
	return string(now), err
}

func TestInvariant3WhatIsReadPostgreSQLReadsAlike(t *testing.T) {
	url := server.Migrated(t)
	for _, value := range append(bound, "a") {
		if value != "" {
			server.Exec(t, url, "INSERT INTO pgflurry.segment (biz_tag) VALUES ('"+value+"')")
		}
	}
	for _, conversation := range texts {
		conn := server.Connect(t, url).PgConn()
		for _, sql := range conversation {
			compare(t, conn, sql)
		}
	}
}

func TestALookupOfADriverHasTheLabelsOfPostgreSQL(t *testing.T) {
	conn := server.Connect(t, server.Database(t)).PgConn()
	for _, sql := range lookups(t) {
		commands, err := command.Read([]byte(sql))
		if err != nil {
			t.Errorf("Read(%q): %v", sql, err)
			continue
		}
		want, err := conn.Prepare(t.Context(), "", sql, nil)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var labels, wanted []string
		for _, c := range commands[0].(*command.Catalog).Columns(nil) {
			labels = append(labels, c.Label)
		}
		for _, f := range want.Fields {
			wanted = append(wanted, f.Name)
		}
		types, err := commands[0].(*command.Catalog).Types(nil)
		if !slices.Equal(labels, wanted) || len(types) != len(want.ParamOIDs) || err != nil {
			t.Errorf("%q has the labels %q and the parameters %v, %v; PostgreSQL's are %q and %v",
				sql, labels, types, err, wanted, want.ParamOIDs)
		}
	}
}

// lookups are the texts that drivers send.
func lookups(t testing.TB) (texts []string) {
	t.Helper()
	file, err := os.ReadFile("lookups.sql")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(string(file), ";\n") {
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) < 6 {
		t.Fatalf("lookups.sql has %d texts; expected those of six drivers and more", len(texts))
	}
	return texts
}

func TestBinaryParametersAreThoseOfPostgreSQL(t *testing.T) {
	conn := server.Connect(t, server.Database(t)).PgConn()
	for name, oid := range typeNames {
		for _, raw := range []string{
			"", "\x00", "\x01", "\x02", "\xff\xfe", "\x00\x00\x00\x07", "\xff\xff\xff\xfe",
			"\x00\x00\x00\x00\x00\x00\x00\x07",
			"\xff\xff\xff\xff\xff\xff\xff\xff", "123456789", "\u00e9", "a\x00b", strings.Repeat("x", 64),
		} {
			for _, format := range []int16{0, 1} {
				where := fmt.Sprintf("a %s of %q in format %d", name, raw, format)
				got, code := firstOf(t, where, func() ([]byte, error) {
					v, err := command.Decode(oid, uint16(format), []byte(raw))
					if err != nil {
						return nil, err
					}
					return v.Append(nil, 0)[4:], nil
				})
				want, wantCode := firstOf(t, where, func() ([]byte, error) {
					params, formats := [][]byte{[]byte(raw)}, []int16{format}
					return session{t, conn}.value(
						conn.ExecParams(t.Context(), "SELECT $1", params, []uint32{oid}, formats, nil).Read())
				})
				if got != want || code != wantCode {
					t.Errorf("%s is %q %s; PostgreSQL's is %q %s", where, got, code, want, wantCode)
				}
			}
		}
	}
}

// compare runs a text in both.
func compare(t *testing.T, conn *pgconn.PgConn, sql string) {
	t.Helper()
	commands, err := command.Read([]byte(sql))
	if err != nil {
		t.Errorf("Read(%q): %v", sql, err)
		return
	}
	if len(commands) == 1 {
		if query, is := commands[0].(command.Query); is {
			compareQuery(t, conn, sql, query)
			return
		}
	}
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Errorf("PostgreSQL refuses %q: %v", sql, err)
		return
	}
	if len(commands) != len(results) && !(len(commands) == 0 && len(results) == 1) {
		t.Errorf("Read(%q) gives %d commands; PostgreSQL runs %d", sql, len(commands), len(results))
		return
	}
	for i, c := range commands {
		compareTag(t, sql, c, results[i].CommandTag.String(), len(results[i].Rows))
		if query, is := c.(command.Query); is {
			compareColumns(t, sql, query.Columns(nil), results[i].FieldDescriptions)
		}
	}
}

// compareTag compares tags. A command that gives rows appends their number.
func compareTag(t *testing.T, sql string, c command.Command, want string, rows int) {
	t.Helper()
	got := c.Tag()
	switch c.(type) {
	case command.Query, command.Fetch:
		got = fmt.Sprint(got, " ", rows)
	}
	if got != want {
		t.Errorf("%q: the tag is %q; PostgreSQL's is %q", sql, got, want)
	}
}

func compareColumns(t *testing.T, sql string, columns []command.Column, want []pgconn.FieldDescription) {
	t.Helper()
	var got []pgconn.FieldDescription
	for _, c := range columns {
		got = append(got, pgconn.FieldDescription{
			Name: c.Label, DataTypeOID: c.Type, DataTypeSize: c.Width, TypeModifier: -1, Format: want[0].Format,
		})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q: the columns are %+v; PostgreSQL's are %+v", sql, got, want)
	}
}

// compareQuery compares the results of Describe, and the rows in text and in binary.
func compareQuery(t *testing.T, conn *pgconn.PgConn, sql string, query command.Query) {
	t.Helper()
	for _, declared := range declarations {
		want, err := conn.Prepare(t.Context(), "", sql, declared)
		types, ownErr := query.Types(declared)
		if err != nil || ownErr != nil {
			compareErrors(t, sql, declared, ownErr, err)
			continue
		}
		if !reflect.DeepEqual(types, want.ParamOIDs) && len(types)+len(want.ParamOIDs) > 0 {
			t.Errorf("%q with %v: the types are %v; PostgreSQL's are %v", sql, declared, types, want.ParamOIDs)
			continue
		}
		compareColumns(t, sql, query.Columns(types), want.Fields)
		for format := range int16(2) {
			compareRows(t, conn, sql, query, types, format)
		}
	}
}

// declarations are declared types of parameters: none, one that fits, one that does not.
var declarations = [][]uint32{
	nil,
	{command.Int4},
	{command.Int8},
	{command.Varchar},
	{command.Unknown, command.Text},
	{command.Text, 0, 0, command.Bool},
	{command.Bool, command.Int2},
}

// compareErrors asserts that our error has the code of PostgreSQL's, or says that there is no answer here.
func compareErrors(t *testing.T, sql string, declared []uint32, own, postgres error) {
	t.Helper()
	var e fault.Error
	if own != nil && !errors.As(own, &e) {
		t.Errorf("%q with %v: %v is no fault.Error", sql, declared, own)
		return
	}
	var p *pgconn.PgError
	if !errors.As(postgres, &p) {
		if e.SQLState != "0A000" {
			t.Errorf("%q with %v: %s, %v; PostgreSQL takes it", sql, declared, e.SQLState, e)
		}
		return
	}
	if own == nil {
		t.Errorf("%q with %v: taken; PostgreSQL says %v", sql, declared, p)
	} else if e.SQLState != p.Code && e.SQLState != "0A000" {
		t.Errorf("%q with %v: %s, %v; PostgreSQL says %v", sql, declared, e.SQLState, e, p)
	}
}

// bound are values of parameters; NULL is the null value.
var bound = []string{"", "7", "-3", "application_name", "true", "\u00e9", "99999999999", "NULL"}

// compareRows compares the rows with a few values for each parameter.
func compareRows(t *testing.T, conn *pgconn.PgConn, sql string, query command.Query, types []uint32, format int16) {
	t.Helper()
	for _, value := range bound {
		raw := []byte(value)
		if value == "NULL" {
			raw = nil
		}
		raws, values := make([][]byte, len(types)), make([]command.Value, len(types))
		var own error
		for i, oid := range types {
			raws[i] = raw
			v, err := command.Decode(oid, 0, raw)
			if values[i] = v; err != nil && own == nil {
				own = err
			}
		}
		if draw, is := query.(command.Draw); is && own == nil {
			if _, err := draw.Bind(values); codeOf(err) == "54000" { // PostgreSQL would go on for hours
				continue
			}
		}
		result := conn.ExecParams(t.Context(), sql, raws, types, nil, []int16{format}).Read()
		where := fmt.Sprintf("%q with %q of types %v in format %d", sql, value, types, format)
		var rows [][][]byte
		if own == nil {
			rows, own = run(session{t, conn}, query, values, uint16(format))
		}
		if own != nil || result.Err != nil {
			compareErrors(t, where, types, own, result.Err)
			continue
		}
		if _, draws := query.(command.Draw); draws {
			if len(rows) != len(result.Rows) {
				t.Errorf("%s: %d rows; PostgreSQL has %d", where, len(rows), len(result.Rows))
			}
		} else if !reflect.DeepEqual(rows, result.Rows) {
			t.Errorf("%s: %q; PostgreSQL's is %q", where, rows, result.Rows)
		}
		if len(types) == 0 {
			return
		}
	}
}

func codeOf(err error) string {
	var e fault.Error
	if errors.As(err, &e) {
		return e.SQLState
	}
	return ""
}

// run returns the rows of a query; those of a Draw are empty.
func run(env command.Environment, query command.Query, values []command.Value, format uint16) ([][][]byte, error) {
	switch query := query.(type) {
	case command.Draw:
		drawing, err := query.Bind(values)
		return make([][][]byte, drawing.Rows), err
	case *command.Select:
		row, err := query.Row(env, values)
		if err != nil {
			return nil, err
		}
		cells := make([][]byte, len(row))
		for i, v := range row {
			b := v.Append(nil, format)
			if string(b) != "\xff\xff\xff\xff" {
				cells[i] = b[4:]
			}
		}
		return [][][]byte{cells}, nil
	}
	return nil, errors.New("neither a Draw nor a Select")
}
