package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

func sample() *table {
	t := newTable("worker", "node", "reserved_until", "retired")
	t.add(7, "app-1", time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.FixedZone("", 3600)), false)
	t.add(1023, "", nil, true)
	return t
}

func printed(t *testing.T, list *table, asJSON bool) string {
	t.Helper()
	var out bytes.Buffer
	if err := list.print(&out, asJSON); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTableAlignsColumnsForPeople(t *testing.T) {
	want := `WORKER  NODE   RESERVED UNTIL            RETIRED
7       app-1  2026-03-04T04:06:07.008Z  false
1023    -      -                         true
`
	if got := printed(t, sample(), false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableIsAJSONArrayOfObjectsForPrograms(t *testing.T) {
	want := `[
  {
    "worker": 7,
    "node": "app-1",
    "reserved_until": "2026-03-04T04:06:07.008Z",
    "retired": false
  },
  {
    "worker": 1023,
    "node": null,
    "reserved_until": null,
    "retired": true
  }
]
`
	got := printed(t, sample(), true)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var parsed []map[string]any
	if err := json.Unmarshal([]byte(got), &parsed); err != nil || len(parsed) != 2 {
		t.Errorf("%d rows, %v; want 2 and no error", len(parsed), err)
	}
}

func TestTableWithoutRowsIsStillATableAndStillJSON(t *testing.T) {
	if got := printed(t, newTable("worker", "node"), false); got != "WORKER  NODE\n" {
		t.Errorf("got %q", got)
	}
	if got := printed(t, newTable("worker", "node"), true); got != "[]\n" {
		t.Errorf("got %q", got)
	}
}
