//go:build unix

package node_test

import (
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// The first look judged the database that had the name at the start. Each later look judges the one that has it now.
func TestADatabaseWhoseNameGoesToOneOfAnotherNamespaceIsAnsweredNoMore(t *testing.T) {
	t.Parallel()
	lease, app, other := server.Migrated(t), server.Database(t), server.Migrated(t)
	if err := migrations.Up(server.Within(t), app, migrations.Settings{JoinURL: lease}); err != nil {
		t.Fatal(err)
	}
	s := settings(t, lease, "replaced")
	s.Databases = []string{server.Name(t, lease), server.Name(t, app)}
	r := start(t, s)
	r.answers(t)
	judged := func(s report.State) report.Database { return s.Databases[1] }
	r.until(t, "that both databases are answered", func(s report.State) bool {
		return s.Databases[0].IDs == "all" && judged(s).IDs == "all"
	})

	server.Alone(t, other)
	server.Exec(t, lease, "DROP DATABASE "+server.Name(t, app)+" WITH (FORCE)")
	server.Exec(t, lease, "ALTER DATABASE "+server.Name(t, other)+" RENAME TO "+server.Name(t, app))
	replaced := time.Now()
	state := judged(r.until(t, "what it thinks of the other database", func(s report.State) bool {
		return judged(s).Judged.After(replaced)
	}))
	if state.IDs != "none" || state.Segments != "none" || !strings.Contains(state.IDsWhy, "namespace") {
		t.Errorf("of a database of another namespace it reports %+v", state)
	}
	through := server.Parse(t, app)
	through.Host = r.Addr().String()
	if id, worker := draw(t, server.Connect(t, through.String())); worker != functionWorker {
		t.Errorf("ID %d of worker %d came from memory, into a database of another namespace", id, worker)
	}
	if _, worker := draw(t, r.connect(t)); worker == functionWorker {
		t.Error("the lease database is not answered any more")
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}
