package migrations

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"pgflurry/hint"
)

//go:embed 0*.sql
var files embed.FS

//go:embed queries/record.sql
var recordSQL string

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

// apply runs the missing migrations, each in one transaction with its row in the record. After a failure the next run
// continues with the one that failed.
func (d *database) apply(ctx context.Context, list []migration) error {
	applied, err := d.applied(ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		if _, done := applied[m.version]; done {
			continue
		}
		doing := "applying " + m.name
		err := d.inTransaction(ctx, doing, func() error {
			if err := d.script(ctx, doing, m.up); err != nil {
				return held(err)
			}
			return d.record(ctx, m)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// record writes the row of an applied migration.
func (d *database) record(ctx context.Context, m migration) error {
	return d.write(ctx, "writing down that "+m.name+" is applied", recordSQL, m.version)
}

// held adds a hint if another transaction held a table that a migration changes.
func held(err error) error {
	if notAvailable(err) {
		return hint.With(err, "Another transaction holds a table of schema pgflurry, as a dump does until its end. "+
			"Run the same again when that has ended; pg_locks shows who it is.")
	}
	return err
}
