package deeds

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// DatabaseWorker is the worker of the function in a database that has not joined another.
const DatabaseWorker = 0

// WorkerOf returns the worker of an ID of the default layout, 41/0/10/12.
func WorkerOf(t *testing.T, id string) int {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		t.Fatalf("%q is no ID", id)
	}
	return int(n>>12) & 1023
}

// FromMemory returns how many of the IDs came from a proxy, and not from a function of a database.
func FromMemory(t *testing.T, ids []string) (n int) {
	t.Helper()
	for _, id := range ids {
		if WorkerOf(t, id) != DatabaseWorker {
			n++
		}
	}
	return n
}

// Seen maps each ID to the place where it was seen first.
type Seen map[string]string

// Note fails the test if an ID was seen before.
func (s Seen) Note(t *testing.T, where string, ids []string) {
	t.Helper()
	for _, id := range ids {
		if before, twice := s[id]; twice {
			t.Errorf("ID %s came in %s and in %s", id, before, where)
		}
		s[id] = where
	}
}

// AnID matches an ID in a text.
var AnID = regexp.MustCompile(`\b\d{17,19}\b`)

// Masked replaces IDs and the server's port, which must differ, at any depth of a value.
func Masked(value any, port string) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(AnID.ReplaceAllString(v, "ID"), port, "PORT")
	case []any:
		for i := range v {
			v[i] = Masked(v[i], port)
		}
	case map[string]any:
		for key := range v {
			v[key] = Masked(v[key], port)
		}
	}
	return value
}
