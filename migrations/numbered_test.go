package migrations

import (
	"strings"
	"testing"

	"pgflurry/namespace"
)

func TestMigrationsAreNumberedWithoutGapsAndCanGoDown(t *testing.T) {
	for i, m := range all() {
		if m.version != i+1 {
			t.Errorf("%s is in place %d", m.name, i+1)
		}
		if strings.Contains(m.up+m.down, "-- Down") || len(m.up) < 2 || len(m.down) < 2 {
			t.Errorf("%s was not split into up and down", m.name)
		}
	}
	if last := revision(all()); last != namespace.Revision {
		t.Errorf("namespace.Revision is %d, and the last migration has number %d", namespace.Revision, last)
	}
}
