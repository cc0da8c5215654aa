package database

import (
	"fmt"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// The first draw of a session asks one flat question. Only its yes counts, so it must be a no wherever the long way may
// say no.
func TestTheFlatQuestionOfTheFirstDrawSaysYesForTheOriginalAlone(t *testing.T) {
	t.Parallel()
	const free = "ALTER TABLE pgflurry.namespace DISABLE TRIGGER ALL; UPDATE pgflurry.namespace SET "
	for name, c := range map[string]struct {
		change   string
		settings migrations.Settings
		yes      bool
	}{
		"nothing":               {"", migrations.Settings{}, true},
		"a long tick":           {"", migrations.Settings{Layout: "31/0/10/12", Unit: time.Second}, true},
		"another ID space":      {free + "id = gen_random_uuid()", migrations.Settings{}, false},
		"another worker":        {free + "function_worker = 1", migrations.Settings{}, false},
		"a disposable one":      {free + "disposable = true", migrations.Settings{}, false},
		"servers are asked for": {free + "new_server = 'refuse'", migrations.Settings{}, false},
		"another server":        {free + "system_identifier = 1", migrations.Settings{}, false},
		"an unknown server":     {free + "system_identifier = NULL", migrations.Settings{}, false},
		"another database":      {free + "database_oid = 1", migrations.Settings{}, false},
		"another table":         {free + "worker_oid = 1", migrations.Settings{}, false},
		"a restored row":        {asCopy, migrations.Settings{}, false},
		"the lane at START":     {"SELECT setval('pgflurry.lane', 1 << 21)", migrations.Settings{}, false},
		"a lane of before the start": {
			"SELECT setval('pgflurry.lane', pgflurry.ticks(pgflurry.server_began() + '2.9 s') << 22)",
			migrations.Settings{},
			false,
		},
		"a lane of after the start": {
			"SELECT setval('pgflurry.lane', pgflurry.ticks(pgflurry.server_began() + '3.1 s') << 22)",
			migrations.Settings{},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := server.Connect(t, server.MigratedWith(t, c.settings))
			ask := fmt.Sprintf("SELECT coalesce(pgflurry.may_draw('%s', %d), false)",
				value[string](t, conn, "SELECT id::text FROM pgflurry.namespace"),
				value[int](t, conn, "SELECT function_worker FROM pgflurry.namespace"))
			run(t, conn, `CREATE OR REPLACE FUNCTION pgflurry.may_draw_slowly(space uuid, worker integer)
				RETURNS boolean LANGUAGE sql AS 'SELECT NULL::boolean'`)
			run(t, conn, "SELECT setval('pgflurry.lane', pgflurry.ticks(clock_timestamp() + '10 s') << "+
				"(63 - timestamp_bits)) FROM pgflurry.namespace")
			if c.change != "" {
				run(t, conn, c.change)
			}
			if yes := value[bool](t, server.Connect(t, conn.Config().ConnString()), ask); yes != c.yes {
				t.Errorf("the answer is %v", yes)
			}
		})
	}
}
