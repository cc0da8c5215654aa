package migrations

import (
	"strings"
	"testing"
	"testing/fstest"

	"pgflurry/namespace"
)

func TestMigrationsAreNumberedWithoutGapsAndCanGoDown(t *testing.T) {
	for i, m := range all() {
		if m.version != i+1 {
			t.Errorf("%s is in place %d", m.name, i+1)
		}
		if len(m.up) < 2 || len(m.down) < 2 {
			t.Errorf("%s has nothing before or behind %q; where it has nothing to do, a comment says so",
				m.name, downLine)
		}
	}
	if last := revision(all()); last != namespace.Revision {
		t.Errorf("namespace.Revision is %d, and the last migration has number %d", namespace.Revision, last)
	}
}

func TestAMigrationWithoutExactlyOneDownLineIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no Down":                 "CREATE TABLE a ();\n",
		"line ends of Windows":    "CREATE TABLE a ();\r\n\r\n-- Down\r\nDROP TABLE a;\r\n",
		"a word behind":           "CREATE TABLE a ();\n-- Down below\nDROP TABLE a;\n",
		"two":                     "CREATE TABLE a ();\n-- Down\nDROP TABLE a;\n-- Down\n",
		"two, one below the next": "CREATE TABLE a ();\n-- Down\n-- Down\nDROP TABLE a;\n",
	} {
		t.Run(name, func(t *testing.T) {
			list, err := numbered(fstest.MapFS{"00002_a.sql": &fstest.MapFile{Data: []byte(text)}})
			if err == nil || !strings.Contains(err.Error(), "migration 00002_a.sql has no line") ||
				!strings.Contains(err.Error(), "expected exactly one") {
				t.Errorf("read as %+v, error %v", list, err)
			}
		})
	}
}
