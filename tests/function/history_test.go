package function_test

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestANewNamespaceInACopyForgetsWhoHeldTheWorkersOfTheOldOne(t *testing.T) {
	url := server.Migrated(t)
	const take = `UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = term + 1, node = 'a proxy', acquired_at = now(), renewed_at = now() WHERE worker = 17`
	server.Exec(t, url, take+";"+take)
	const held = "SELECT count(*) FROM pgflurry.worker_history"
	copied := copyOf(t, url)
	up(t, copied, migrations.Settings{NewNamespace: true})
	if n := value[int](t, server.Connect(t, copied), held); n != 0 {
		t.Errorf("the copy remembers %d holders of another namespace", n)
	}
	if n := value[int](t, server.Connect(t, url), held); n != 1 {
		t.Errorf("the original remembers %d holders, expected 1", n)
	}
}
