package database

import (
	"os/exec"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// The page has three ways to a key of a foreign table, one paragraph each.
func TestAForeignTableGetsItsKeyInEachWayOfThePageAndNULLWithout(t *testing.T) {
	t.Parallel()
	var ways []string
	for _, block := range deeds.Blocks(t, "../../docs/functions.md", "sql") {
		if strings.Contains(block, "FOREIGN TABLE") {
			ways = strings.Split(block, "\n\n")
		}
	}
	if len(ways) != 3 {
		t.Fatalf("the page has %d ways: %q", len(ways), ways)
	}
	there := server.Migrated(t)
	here := server.Database(t)
	server.Migrate(t, here, migrations.Settings{JoinURL: there})
	far, near := server.Connect(t, there), server.Connect(t, here)
	at := server.Parse(t, there)
	if !value[bool](t, near, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw')") {
		t.Skip("this server has no postgres_fdw")
	}
	run(t, far, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text)")
	run(t, near, "CREATE EXTENSION postgres_fdw; CREATE SERVER shop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '"+
		at.Hostname()+"', port '"+at.Port()+"', dbname '"+server.Name(t, there)+"'); "+
		"CREATE USER MAPPING FOR CURRENT_USER SERVER shop OPTIONS (user '"+at.User.Username()+"'); "+
		"CREATE FOREIGN TABLE item (id bigint, name text) SERVER shop")
	refused(t, near, "23502", "INSERT INTO item (name) VALUES ('tea')")
	for i, way := range ways {
		conn, table := near, "item"
		switch i {
		case 1:
			table = "new_item"
		case 2:
			conn = far
			run(t, near, "ALTER FOREIGN TABLE item ALTER id DROP DEFAULT")
		}
		run(t, conn, way)
		run(t, near, "INSERT INTO "+table+" (name) VALUES ('tea')")
		const ids = "SELECT count(*) FROM item WHERE snowflake_time(id) > now() - interval '1 hour'"
		if n := value[int](t, far, ids); n != i+1 {
			t.Errorf("%s: the table has %d rows with an ID, expected %d", way, n, i+1)
		}
	}
}

func TestADumpOfOneTableLoadsOnlyWhereTheFunctionIs(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY)")
	dump, err := exec.CommandContext(server.Within(t), server.Tool(t, "pg_dump"), "-t", "item", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	load := func(into string) (string, error) {
		psql := exec.CommandContext(server.Within(t), server.Tool(t, "psql"), "-Xq", "-v", "ON_ERROR_STOP=1", into)
		psql.Stdin = strings.NewReader(string(dump))
		out, err := psql.CombinedOutput()
		return string(out), err
	}
	bare := server.Database(t)
	if out, err := load(bare); err == nil || !strings.Contains(out, "function public.next_snowflake() does not exist") {
		t.Errorf("into a database without the function: %v\n%s", err, out)
	}
	server.Migrate(t, bare, migrations.Settings{})
	if out, err := load(bare); err != nil {
		t.Errorf("after migrate up: %v\n%s", err, out)
	}
	server.Exec(t, bare, "INSERT INTO item DEFAULT VALUES")
}
