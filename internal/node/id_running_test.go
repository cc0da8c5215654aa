//go:build unix

package node_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/report"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/server"
)

const (
	client   = "shop"
	password = "of the shop"
)

// withAccount returns settings of a node with an ID database, and adds an account to the lease database.
func withAccount(t testing.TB, name string) config.Given {
	t.Helper()
	s := settings(t, server.Migrated(t), name)
	s.IDDatabase.Name = "ids"
	verifier, err := scram.NewVerifier(password, scram.DefaultIterations)
	if err != nil {
		t.Fatal(err)
	}
	conn := server.Connect(t, s.LeaseDatabase)
	server.Do(t, conn, "INSERT INTO pgflurry.client (name, verifier) VALUES ($1, $2)", client, verifier.Text())
	return s
}

// idConfig is a connection to the ID database of a node.
func (r *running) idConfig(t testing.TB) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig("postgres://" + client + "@localhost/ids?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	config.Password = password
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, r.Addr().Network(), r.Addr().String())
	}
	return config
}

// hesitant is a client's connection that waits before its second message, the first of SCRAM.
type hesitant struct {
	net.Conn
	asked chan<- struct{} // closed when the server has asked for the password
	goOn  <-chan struct{}
	sent  int
}

func (h *hesitant) Write(b []byte) (int, error) {
	if h.sent++; h.sent == 2 {
		close(h.asked)
		<-h.goOn
	}
	return h.Conn.Write(b)
}

func TestWhoLogsInToTheIDDatabaseWhileTheSocketIsHandedOverGetsIn(t *testing.T) {
	server.NoLeak(t)
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	s := withAccount(t, "handing over")
	s.Listen, s.Listener = "", shared(t, socket.(interface{ File() (*os.File, error) }))
	r := start(t, s)
	r.until(t, "an account", func(s report.State) bool { return s.IDDatabase.Accounts.Count == 1 })
	config := r.idConfig(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &hesitant{Conn: conn, asked: asked, goOn: goOn}, err
	}
	type login struct {
		conn *pgx.Conn
		err  error
	}
	logins := make(chan login, 1)
	go func() {
		conn, err := pgx.ConnectConfig(t.Context(), config)
		logins <- login{conn, err}
	}()
	<-asked
	r.stop()
	r.log.await(t, "handed over")
	close(goOn)
	l := <-logins
	if l.err != nil {
		t.Fatalf("who was accepted before is refused: %v", l.err)
	}
	_, err = l.conn.PgConn().ReceiveMessage(server.Within(t))
	server.Says(t, err, "57P01")
	l.conn.Close(t.Context())
	if err := r.result(t); err != nil {
		t.Error(err)
	}
}

func TestAccountsThatCannotBeReadAreReportedWithWhatToDoAndThoseReadBeforeStay(t *testing.T) {
	server.NoLeak(t)
	s := withAccount(t, "accounts")
	owner := server.Connect(t, s.LeaseDatabase)
	role := "id_accounts_reader"
	leaseURL := server.Role(t, s.LeaseDatabase, role)
	server.Do(t, owner, "CALL pgflurry.grant_lease('"+role+"')")
	server.Do(t, owner, "REVOKE SELECT ON pgflurry.client FROM "+role)
	s.LeaseDatabase = leaseURL
	r := start(t, s)
	state := r.until(t, "what is missing", func(s report.State) bool { return s.IDDatabase.Accounts.Problem != "" })
	if a := state.IDDatabase.Accounts; !a.Read.IsZero() || !strings.Contains(a.Problem, role) ||
		!strings.Contains(a.Hint, "CALL pgflurry.grant_lease('"+role+"')") || a.From != "pgflurry.client" {
		t.Errorf("without the right it reports %+v", a)
	}
	r.log.await(t, "nobody can log in to it")
	server.Do(t, owner, "CALL pgflurry.grant_lease('"+role+"')")
	if err := r.reload(s); err != nil { // reads the accounts at once
		t.Fatal(err)
	}
	r.until(t, "an account", func(s report.State) bool {
		return s.IDDatabase.Accounts.Count == 1 && s.IDDatabase.Accounts.Problem == ""
	})
	server.Do(t, owner, "ALTER TABLE pgflurry.client RENAME TO other")
	if err := r.reload(s); err != nil {
		t.Fatal(err)
	}
	state = r.until(t, "what is missing", func(s report.State) bool { return s.IDDatabase.Accounts.Problem != "" })
	if a := state.IDDatabase.Accounts; a.Count != 1 || a.Read.IsZero() || !strings.Contains(a.Hint, "migrate up") {
		t.Errorf("without the table it reports %+v", a)
	}
	r.log.await(t, "logins go on with those that were read last")
	conn, err := pgx.ConnectConfig(t.Context(), r.idConfig(t))
	if err != nil {
		t.Fatalf("an account that was read before: %v", err)
	}
	conn.Close(t.Context())
	server.Do(t, owner, "ALTER TABLE pgflurry.other RENAME TO client")
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

func TestAnIDDatabaseTellsItsSessionsApartAndWhatTheRealServerIs(t *testing.T) {
	server.NoLeak(t)
	s := withAccount(t, "apart")
	r := start(t, s)
	r.answers(t)
	r.until(t, "an account", func(s report.State) bool { return s.IDDatabase.Accounts.Count == 1 })
	conn, err := pgx.ConnectConfig(t.Context(), r.idConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	real := server.Value[string](t, server.Connect(t, s.LeaseDatabase), "SHOW server_version")
	if said := conn.PgConn().ParameterStatus("server_version"); said != real {
		t.Errorf("the version is %q; the real server's is %q", said, real)
	}
	server.Values[int64](t, conn, "SELECT * FROM next_snowflakes(5)")
	server.Refused(t, conn, "0A000", "SELECT * FROM orders")
	state := r.State()
	d := state.IDDatabase
	if d.Open["idle"] != 1 || d.Sessions() != 1 || d.IDs != 5 || d.ByKind["snowflakes"] != 1 ||
		d.Refused["not_supported"] != 1 || d.Logins["ok"] != 1 || d.LoginsIn.Count() != 1 {
		t.Errorf("the ID database reports %+v", d)
	}
	if state.Answers.IDs != 0 || state.Sessions.Open["idle"]+state.Sessions.Open["login"] != 0 ||
		state.Sessions.Logins["ok"] != 0 {
		t.Errorf("it is counted among the others: %+v, %+v", state.Answers, state.Sessions)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

func TestAReloadChangesTheRulesOfAnIDDatabaseAllOrNone(t *testing.T) {
	server.NoLeak(t)
	s := withAccount(t, "reloaded")
	r := start(t, s)
	wrong := s
	wrong.IDDatabase.MaxSessions, wrong.IDDatabase.AuthFile = 7, "/not/there"
	server.Says(t, r.reload(wrong), "--id-auth-file: open /not/there")
	if limit := r.State().IDDatabase.Limit; limit != 0 {
		t.Errorf("a reload with an error has changed the limit to %d", limit)
	}
	changed := s
	changed.IDDatabase.Name, changed.IDDatabase.MaxSessions = "other", 7 // a new name waits for a restart
	if err := r.reload(changed); err != nil {
		t.Fatal(err)
	}
	if d := r.State().IDDatabase; d.Limit != 7 || d.Name != "ids" {
		t.Errorf("after a reload it reports %+v", d)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}
