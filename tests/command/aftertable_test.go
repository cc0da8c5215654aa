//go:build full

package command

import (
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// A tweet of 2022 is of 2035 by the default epoch.
const tweet = "1541815603606036480"

// oldTables has columns with IDs of another generator, and others.
const oldTables = `CREATE SCHEMA app;
	CREATE DOMAIN app.snowflake AS bigint;
	CREATE TABLE app.orders (id bigint PRIMARY KEY, code uuid, name text, n integer, parent bigint);
	INSERT INTO app.orders (id, parent) VALUES (1541815603606036479, NULL), (7, NULL);
	CREATE TABLE app."Old" ("ID" app.snowflake);
	INSERT INTO app."Old" VALUES (NULL), (` + tweet + `);
	CREATE TABLE app.below (id bigint);
	INSERT INTO app.below VALUES (-2)`

func TestUpReadsTheHighestIDOfTheNamedColumns(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	server.Exec(t, url, oldTables)
	up := func(more ...string) ended {
		return run(t, append([]string{"migrate", "up", "--database", url}, more...)...)
	}
	const refused = "the first ID would not be above "
	up("--after-id", "app.orders.id").is(t, 2, refused+"1541815603606036479", "--epoch 20")
	both := []string{"--after-id", `app."Old"."ID"`, "--after-id", "APP.Orders.ID"}
	up(both...).is(t, 2, refused+tweet)
	up(append(both, "--after-id", "1541815603606036481")...).is(t, 2, refused+"1541815603606036481")

	done := up(append(both, "--layout", "datacenter", "--epoch", "2010-11-04T01:42:54.657Z",
		"--foreign-workers", "0-3")...)
	done.is(t, 0)
	if said := "the highest ID is " + tweet + `, of "app"."Old"."ID"`; !strings.Contains(done.out, said) {
		t.Errorf("it does not say %s:\n%s", said, done.out)
	}
	conn := server.Connect(t, url)
	if !server.Value[bool](t, conn, "SELECT next_snowflake() > "+tweet) {
		t.Error("the first ID is not above")
	}
	up("--after-id", "app.orders.id").is(t, 2, "--after-id is for a new ID space")
	up("--foreign-workers", "none").is(t, 2, "are 0 to 3, not none", "fixed when the ID space is made")
}

func TestUpSaysWhyANamedColumnHasNoID(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	server.Exec(t, url, oldTables)
	for _, c := range []struct {
		column string
		says   []string
	}{
		{"orders.id", []string{"it has 2 of the parts schema, table, column", "app.orders.id"}},
		{"shop.app.orders.id", []string{"4 parts", "not those of another one", "in each other database", "--after-id"}},
		{"shop.orders.id", []string{`no schema "shop"`}},
		{"app.old.ID", []string{`schema "app" has no table "old"`, "double quotes"}},
		{`app.orders."ID"`, []string{`table "orders" has no column "ID"`, "double quotes"}},
		{"app.orders.ctid", []string{`no column "ctid"`}},
		{"app.orders.code", []string{"of type uuid; expected bigint", "--after-id"}},
		{"app.orders.name", []string{"of type text; expected bigint", "--after-id"}},
		{"app.orders.n", []string{"of type integer; expected bigint"}},
		{"app.orders.parent", []string{"without an ID: app.orders.parent", "--after-id"}},
		{"app.below.id", []string{`of "app"."below"."id" is -2`, "no ID is negative"}},
		{"app..id", []string{"not a valid identifier"}},
		{`app."orders.id`, []string{"not a valid identifier"}},
		{"app.orders.id; DROP TABLE app.orders", []string{"not a valid identifier"}},
		{"", []string{"not a valid identifier"}},
	} {
		run(t, "migrate", "up", "--database", url, "--after-id", c.column).is(t, 2, c.says...)
	}
	conn := server.Connect(t, url)
	if server.Value[bool](t, conn, "SELECT to_regnamespace('pgflurry') IS NOT NULL") {
		t.Error("a refusal has left schema pgflurry")
	}
}

func TestUpReadsNoColumnOfWhichItsRoleMayNotSeeEachRow(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	role := server.Role(t, url, "half_blind")
	server.Exec(t, url, oldTables+`;
		DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO half_blind', current_database()); END $$;
		GRANT CREATE ON SCHEMA public TO half_blind; GRANT USAGE ON SCHEMA app TO half_blind`)
	up := func() ended {
		return run(t, "migrate", "up", "--database", role, "--epoch", "2010-11-04T01:42:54.657Z",
			"--after-id", "app.orders.id")
	}
	up().is(t, 1, `role "half_blind" cannot read`, "permission denied", "--after-id ID")
	server.Exec(t, url, `GRANT SELECT (id) ON app.orders TO half_blind;
		ALTER TABLE app.orders ENABLE ROW LEVEL SECURITY;
		CREATE POLICY few ON app.orders USING (id < 100)`)
	up().is(t, 1, `role "half_blind" cannot read`, "row-level security policy", "--after-id ID")
	server.Exec(t, url, "ALTER TABLE app.orders DISABLE ROW LEVEL SECURITY")
	up().is(t, 0)
}
