package state

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

// What a package cannot name it cannot use: sockets, files, locks, clocks.
func TestInvariant1ASessionDoesNoIOAndHasNoGoroutineNoLockAndNoClock(t *testing.T) {
	allowed := []string{
		"bytes", "encoding/binary", "fmt", "maps", "slices", "strconv", "strings",
		"pgflurry/internal/fault", "pgflurry/proxy/idserver/command", "pgflurry/proxy/internal/wire",
		"pgflurry/proxy/statement",
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		looked++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s; expected only %q", name, path, allowed)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
				t.Errorf("%s starts a goroutine or talks to one", name)
			}
			return true
		})
	}
	if looked < 10 {
		t.Errorf("%d files were looked at; expected all of the package", looked)
	}
}

type noTables struct{}

func (noTables) Show(string, string) ([]string, [][]string, bool) { return nil, nil, false }

func begun() *Session {
	s := new(Session)
	s.Begin(&Database{Name: "ids", Console: noTables{}}, "ann", 1, map[string]string{"server_version": "15.4"})
	return s
}

// runs runs a text of commands that have no rows, as a Query does.
func (s *Session) runs(sql string) error {
	_, text, commands, err := s.Query(append([]byte(sql), 0))
	for i := 0; i < len(commands) && err == nil; i++ {
		var p *Statement
		var portal *Portal
		if p, err = s.Prepare(commands[i], text, len(commands) > 1); err == nil {
			portal, err = s.Open(p)
		}
		if err == nil && !portal.HasRows() {
			_, err = s.Do(portal)
		}
		if err == nil {
			s.Closed(i == len(commands)-1)
		}
	}
	if err != nil {
		s.Transaction.Abort()
	}
	return err
}

// forget drops everything that a client made.
func (s *Session) forget(t *testing.T) {
	t.Helper()
	s.Transaction.Rollback()
	s.Objects.DropUnnamed()
	if err := s.runs("CLOSE ALL"); err != nil {
		t.Fatal(err)
	}
	if err := s.runs("DISCARD ALL"); err != nil {
		t.Fatal(err)
	}
}

func TestInvariant2WhatAClientMakesIsCountedWhileItIsThereAndNoLonger(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 100 {
		s := begun()
		long := strings.Repeat("x", dice.IntN(20_000))
		for range 60 {
			name := string(rune('a' + dice.IntN(4)))
			sql := []string{
				"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT " + name, "RELEASE " + name, "ROLLBACK TO " + name,
				"SET a." + name + " TO '" + long + "'", "SET LOCAL a." + name + " TO '" + long + "'", "RESET ALL",
				"DEALLOCATE ALL",
				"DECLARE " + name + " CURSOR WITH HOLD FOR SELECT '" + long + "'", "CLOSE " + name,
				"BEGIN; DECLARE " + name + " CURSOR FOR SELECT 1; SAVEPOINT " + name, "SELEC",
			}[dice.IntN(14)]
			var p fault.Error
			if err := s.runs(sql); errors.As(err, &p) && p.SQLState == "54000" {
				refused++
			}
			if s.Kept.Bytes() < 0 || s.Kept.Bytes() > MaxKept {
				t.Fatalf("after %.40q %d bytes are kept; expected 0 to %d", sql, s.Kept.Bytes(), MaxKept)
			}
		}
		s.forget(t)
		if n := s.Kept.Bytes(); n != 0 {
			t.Fatalf("%d bytes are kept of nothing", n)
		}
	}
	if refused == 0 {
		t.Error("no session was full; this test proves nothing of the limit")
	}
}

func TestARollbackUndoesCursorsAndLocalSettingsAndNothingElse(t *testing.T) {
	s := begun()
	for _, sql := range []string{
		"SET a.b TO 'before'", "BEGIN", "SET a.b TO 'within'", "SET LOCAL a.c TO 'local'",
		"DECLARE c CURSOR FOR SELECT 1", "SAVEPOINT x", "SET a.b TO 'later'", "ROLLBACK TO x",
	} {
		if err := s.runs(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if now, _ := s.Parameters.get("a.b"); now != "later" {
		t.Errorf("after ROLLBACK TO a.b is %q; expected what was set last", now)
	}
	if err := s.runs("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	now, _ := s.Parameters.get("a.b")
	local, _ := s.Parameters.get("a.c")
	if left := fmt.Sprintf("%s%s %v", now, local, s.Objects.cursor("c") != nil); left != "later false" {
		t.Errorf("the settings and the cursor: %s; expected later false", left)
	}
}
