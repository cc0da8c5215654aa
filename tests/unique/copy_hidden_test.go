package unique

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestACopyFromWhoseRoleAPolicyHidesIDsBecomesNoNamespaceOfItsOwn(t *testing.T) {
	t.Parallel()
	const role = "sees_few"
	server.Role(t, server.Database(t), role)
	mayCreate := func(url string) {
		server.Exec(t, url, "GRANT CREATE ON DATABASE "+server.Name(t, url)+" TO "+role+
			"; GRANT CREATE ON SCHEMA public TO "+role)
	}
	owned := func() (direct, asRole string) {
		direct = server.Database(t)
		mayCreate(direct)
		return direct, server.As(t, direct, role, "")
	}
	_, home := owned()
	direct, joined := owned()
	server.Migrate(t, home, migrations.Settings{Layout: "41/0/3/12", DatabaseWorkers: 2})
	server.Migrate(t, joined, migrations.Settings{JoinURL: home})
	server.Exec(t, direct, `CREATE TABLE item (id bigint DEFAULT next_snowflake(), mine boolean);
		INSERT INTO item (mine) VALUES (false);
		GRANT SELECT ON item TO `+role+`; ALTER TABLE item ENABLE ROW LEVEL SECURITY;
		CREATE POLICY mine ON item USING (mine)`)
	copied := server.TemplateCopy(t, direct, "copy_that_hides")
	anew := func() error {
		return migrations.Up(t.Context(), server.As(t, copied, role, ""), migrations.Settings{NewNamespace: true})
	}
	server.Says(t, anew(), "GRANT CREATE ON DATABASE") // a template's rights are not copied
	mayCreate(copied)
	server.Says(t, anew(), "the highest ID of public.item cannot be read", "row-level security policy", "--after-id ID")
	server.Exec(t, copied, "ALTER TABLE item DISABLE ROW LEVEL SECURITY")
	if err := anew(); err != nil {
		t.Error(err)
	}
}
