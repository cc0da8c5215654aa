package queries

import (
	"fmt"
	"strings"
	"testing"
)

const file = `-- What a room sends to a database.

-- name: clock
-- Reads the clock.
SELECT clock_timestamp();

-- name: last_applied
SELECT max(version)
FROM migration;
`

type both struct {
	LastApplied, Clock string
}

func TestEachFieldGetsTheStatementOfItsNameWithItsComments(t *testing.T) {
	want := both{
		Clock:       "-- Reads the clock.\nSELECT clock_timestamp();\n",
		LastApplied: "SELECT max(version)\nFROM migration;\n",
	}
	if got := Read[both](file); got != want {
		t.Errorf("read %+q, expected %+q", got, want)
	}
}

func TestAFileThatDoesNotFitTheCodeIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"missing":          {strings.Replace(file, "name: clock", "name: time", 1), "no statement is named clock"},
		"unused":           {file + "-- name: more\nSELECT 1;\n", "statement more is not used"},
		"named twice":      {file + "-- name: clock\nSELECT 1;\n", "line 10: a second statement is named clock"},
		"misspelled":       {file + "--name: more\nSELECT 1;\n", `line 10 is "--name: more"`},
		"name in capitals": {file + "-- name: More\nSELECT 1;\n", `line 10 is "-- name: More"`},
		"before the first": {"SELECT 1;\n" + file, "line 1 stands before the first"},
		"empty":            {file + "-- name: more\n\n", "statement more is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, test.says) {
					t.Errorf("it says %q, expected %q", said, test.says)
				}
			}()
			Read[both](test.text)
		})
	}
}
