package command_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/proxy/idserver/command"
	"pgflurry/tests/support/server"
)

var (
	typeNames = map[string]uint32{
		"bool": command.Bool, "int8": command.Int8, "int2": command.Int2, "int4": command.Int4,
		"text": command.Text, "varchar": command.Varchar,
	}
	literals = []string{
		"'0'", "'1'", "'-1'", "' 42 '", "'+7'", "'++7'", "'-'", "'1 2'", "'32768'", "'-32768'", "'2147483648'",
		"'-2147483649'",
		"'4294967295'", "'4294967296'", "'9223372036854775807'", "'9223372036854775808'", "'t'", "'TRUE '", "'of'",
		"'o'",
		"'nO'", "''", "'x'", "'\u00e9'", "NULL", "0", "1", "-1", "40000", "3000000000", "-3000000000", "true", "false",
	}
)

// first is the only value of a text in PostgreSQL, or the code of its error.
func first(t *testing.T, conn *pgconn.PgConn, sql string) (value, code string) {
	t.Helper()
	return firstOf(t, sql, func() ([]byte, error) { return session{t, conn}.simple(sql) })
}

// own is the same by this package.
func own(t *testing.T, sql string) (value, code string) {
	t.Helper()
	return firstOf(t, sql, func() ([]byte, error) {
		commands, err := command.Read([]byte(sql))
		if err != nil {
			return nil, err
		}
		query := commands[0].(*command.Select)
		if _, err := query.Types(nil); err != nil {
			return nil, err
		}
		rows, err := run(session{}, query, nil, 0)
		if err != nil {
			return nil, err
		}
		return rows[0][0], nil
	})
}

func firstOf(t *testing.T, sql string, give func() ([]byte, error)) (value, code string) {
	t.Helper()
	got, err := give()
	switch {
	case err != nil && codeOf(err) == "":
		t.Fatalf("%s: %v", sql, err)
	case err != nil:
		return "", codeOf(err)
	case got == nil:
		return "NULL", ""
	}
	return string(got), ""
}

func TestCastsAreThoseOfPostgreSQL(t *testing.T) {
	conn := server.Connect(t, server.Database(t)).PgConn()
	cast := 0
	for _, literal := range literals {
		for to := range typeNames {
			sql := fmt.Sprintf("SELECT %s::%s", literal, to)
			value, code := own(t, sql)
			if code == "0A000" {
				continue
			}
			cast++
			if wantValue, wantCode := first(t, conn, sql); value != wantValue || code != wantCode {
				t.Errorf("%s is %q %s; PostgreSQL's is %q %s", sql, value, code, wantValue, wantCode)
			}
		}
	}
	if cast < 150 {
		t.Errorf("only %d casts have an answer", cast)
	}
}

func TestArgumentsOfExecuteAreAssignedAsPostgreSQLDoes(t *testing.T) {
	conn := server.Connect(t, server.Database(t)).PgConn()
	for to, oid := range typeNames {
		name := session{t, conn}
		if _, err := name.simple("DEALLOCATE ALL; PREPARE p(" + to + ") AS SELECT $1"); err != nil {
			t.Fatal(err)
		}
		for _, literal := range append(literals, "NULL") {
			sql := "EXECUTE p(" + literal + ")"
			value, code := firstOf(t, sql, func() ([]byte, error) { return executed(sql, oid) })
			wantValue, wantCode := first(t, conn, sql)
			if code != "0A000" && (value != wantValue || code != wantCode) {
				t.Errorf("%s of a %s is %q %s; PostgreSQL's is %q %s", sql, to, value, code, wantValue, wantCode)
			}
		}
	}
}

// executed is the argument of an EXECUTE as a parameter of a type.
func executed(sql string, oid uint32) ([]byte, error) {
	commands, err := command.Read([]byte(sql))
	if err != nil {
		return nil, err
	}
	value, err := commands[0].(command.Execute).Arguments[0].To(oid)
	if b := value.Append(nil, 0); err == nil && !reflect.DeepEqual(b, []byte("\xff\xff\xff\xff")) {
		return b[4:], nil
	}
	return nil, err
}
