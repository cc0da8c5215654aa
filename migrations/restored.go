package migrations

import (
	"context"
	_ "embed"
)

//go:embed queries/without_rows.sql
var withoutRowsSQL string

// recordRestored records which migrations a schema has that came from a dump without data (pg_dump --schema-only,
// structure.sql). Such a schema has its tables, but its record of the migrations is empty. The later steps make the
// rows, as in a new database.
func (d *database) recordRestored(ctx context.Context, list []migration) error {
	var restored bool
	if err := d.QueryRow(ctx, withoutRowsSQL).Scan(&restored); err != nil {
		return failed("looking for a schema without its rows", err)
	}
	if !restored {
		return nil
	}
	if d.facts.revision == 0 {
		return refuse("Restore the dump with the data of schema pgflurry.",
			"schema pgflurry of database %q has tables but no record of its migrations, and does not say of which "+
				"revision it is", d.facts.database)
	}
	for _, m := range list {
		if m.version > d.facts.revision {
			break
		}
		if err := d.record(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
