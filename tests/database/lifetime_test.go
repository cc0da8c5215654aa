package database

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestTheLifetimeOfALayoutIsComputedAndWarnedAbout(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	if years := server.Value[string](t, conn, "SELECT pgflurry.layout_years(41)::text"); years != "69.7" {
		t.Errorf("41 bits of milliseconds are %s years, want 69.7", years)
	}
	is := server.Value[string](t, conn, `SELECT concat_ws(' ', begins AT TIME ZONE 'UTC', ends AT TIME ZONE 'UTC',
		years, years_left = round(extract(epoch FROM ends - clock_timestamp()) / 31556952, 1), warning IS NULL)
		FROM pgflurry.snowflake_lifetime()`)
	if is != "2024-01-01 00:00:00 2093-09-06 15:47:35.552 69.7 t t" {
		t.Errorf("the default layout lasts %s", is)
	}
	short := server.Connect(t, server.MigratedWith(t, migrations.Settings{Layout: "28/0/10/12", Unit: 500_000_000}))
	warning := server.Value[string](t, short,
		"SELECT coalesce(warning, 'none: ' || years_left) FROM pgflurry.snowflake_lifetime()")
	if warning != "The layout ends on 2028-04-02 10:42:08+00. Plan a new namespace." {
		t.Errorf("a layout of 4.3 years says: %s", warning)
	}
}
