package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

//go:embed 0*.sql
var files embed.FS

// downLine separates the two halves of a migration.
const downLine = "-- Down"

// A migration is one numbered file: 00001_schema.sql. The part after the line "-- Down" reverts it.
type migration struct {
	version  int
	name     string // of the file
	up, down string // SQL
}

// all returns every migration of this program, in order.
func all() []migration {
	list, err := numbered(files)
	if err != nil {
		panic(err) // they are embedded, so a file was changed before the program was built
	}
	return list
}

// numbered reads the migrations of a folder.
func numbered(folder fs.FS) ([]migration, error) {
	names, err := fs.Glob(folder, "0*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	list := make([]migration, len(names))
	for i, name := range names { // sorted
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number; expected a name such as 00002_colors.sql", name)
		}
		// Without the Down line the whole file would run, and drop what it has just made.
		lines := strings.Split(string(text), "\n")
		at := slices.Index(lines, downLine)
		if at < 0 || slices.Contains(lines[at+1:], downLine) {
			return nil, fmt.Errorf("migration %s has no line %q, or several; expected exactly one, ended by a line "+
				"feed alone", name, downLine)
		}
		list[i] = migration{version: version, name: name, up: half(lines[:at]), down: half(lines[at+1:])}
	}
	return list, nil
}

// half returns the SQL before or after the Down line.
func half(lines []string) string { return strings.TrimSpace(strings.Join(lines, "\n")) + "\n" }

// revision returns the number of the last migration.
func revision(list []migration) int { return list[len(list)-1].version }
