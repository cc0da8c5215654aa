//go:build unix

package node_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/tests/support/server"
)

// A typo in the file of the secret may name another database. That needs a restart, and so does what follows from it.
func TestAReloadWithAnotherLeaseDatabaseAnswersInTheOneThatIsInForce(t *testing.T) {
	server.NoLeak(t)
	s := settings(t, server.Migrated(t), "reloading")
	s.Databases = nil
	r := start(t, s)
	r.answers(t)
	before := r.State().Databases[0]
	changed := s
	changed.LeaseDatabase = strings.Replace(s.LeaseDatabase, "/"+before.Name, "/"+before.Name+"x", 1)
	changed.Limits.MaxConnections = 9
	if err := r.reload(changed); err != nil {
		t.Fatal(err)
	}
	if st := r.State(); len(st.Databases) != 1 || st.Databases[0].Name != before.Name || st.Sessions.Limit != 9 {
		t.Errorf("the databases are %+v, the limit is %d; expected %s and 9",
			st.Databases, st.Sessions.Limit, before.Name)
	}
	r.answers(t)
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

func TestInvariant8AReloadWithAnErrorChangesNothingAndOneWithoutEndsNoSession(t *testing.T) {
	server.NoLeak(t)
	s := settings(t, server.Migrated(t), "reloading")
	r := start(t, s)
	r.answers(t)
	open := r.connect(t)
	at := r.State().Reloaded
	if at.IsZero() {
		t.Error("the start is no reading of the configuration")
	}
	for says, change := range map[string]func(*config.Given){
		"--max-connections is -1":       func(s *config.Given) { s.Limits.MaxConnections = -1 },
		"--databases has an empty name": func(s *config.Given) { s.Databases = []string{""} },
		"--client-tls-cert: open":       func(s *config.Given) { s.TLS.ClientCert, s.TLS.ClientKey = "/no", "/no" },
		"--client-tls require needs":    func(s *config.Given) { s.TLS.Client = "require" },
	} {
		wrong := s
		wrong.Limits.MaxConnections, wrong.Databases = 1, []string{"other"}
		change(&wrong)
		if err := r.reload(wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; expected %q", err, says)
		}
		if st := r.State(); st.Reloaded != at || len(st.Databases) != 1 || st.Databases[0].Name == "other" {
			t.Errorf("%s: the state has changed: %v, %v", says, st.Reloaded, st.Databases)
		}
		r.connect(t) // there is no limit yet
	}
	changed := s
	changed.Limits.MaxConnections = 1
	changed.Listen, changed.Upstream, changed.Name = "/none", "/none", "another" // these are ignored
	if err := r.reload(changed); err != nil {
		t.Fatal(err)
	}
	if st := r.State(); !st.Reloaded.After(at) || st.Sessions.Limit != 1 || !st.Sessions.Full || st.Name != s.Name {
		t.Errorf("reloaded at %v, limit %d, full %v, node %s",
			st.Reloaded, st.Sessions.Limit, st.Sessions.Full, st.Name)
	}
	through := server.Parse(t, r.direct)
	through.Host = r.Addr().String()
	if _, err := pgx.Connect(server.Within(t), through.String()); err == nil {
		t.Error("one more session than there may be")
	}
	if id, worker := draw(t, open); worker == functionWorker {
		t.Errorf("ID %d in the open session is of the function", id)
	}
	if err := r.end(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
