package migrations

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgflurry/internal/namespace"
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

// released has the SHA-256 of each migration. Databases have run these very statements, so they must not change.
var released = map[string]string{
	"00001_schema.sql": "45356a1788daa824335ef52bd83837ed0c13db37ababbe6c5350f8f981790161",
}

func TestMigrationInvariant4AReleasedMigrationStaysAsItIs(t *testing.T) {
	list := all()
	if len(list) != len(released) {
		t.Errorf("there are %d migrations and %d pins", len(list), len(released))
	}
	for _, m := range list {
		text, err := files.ReadFile(m.name)
		if err != nil {
			t.Fatal(err)
		}
		switch is := fmt.Sprintf("%x", sha256.Sum256(text)); released[m.name] {
		case is:
		case "":
			t.Errorf("%s is new: add its SHA-256 to the pins, %s", m.name, is)
		default:
			t.Errorf("%s has changed. Databases that have run it will never run it again: put it back as it was, and "+
				"add a migration with the next number, %05d_….sql, that makes the change. Only before the first "+
				"release may the pin change instead, to %s", m.name, len(list)+1, is)
		}
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
