package idsessions

import (
	"testing"

	"pgflurry/tests/support/server"
)

func TestPsqlDrawsWithAPasswordAndPostgreSQLSeesNoSession(t *testing.T) {
	d := withClient(t)
	out, said, ok := psql(t, d.url("", "sslmode=disable"), "SELECT next_snowflake()", "PGPASSWORD="+password)
	if !ok {
		t.Fatal(said)
	}
	isID(t, out)

	clients := server.Connect(t, d.direct)
	const backends = `SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND (datname = $1 OR usename = $2)`
	conn := d.connect(t)
	server.Do(t, conn, "BEGIN")
	isID(t, server.Value[string](t, conn, "SELECT next_snowflake()::text"))
	if n := server.Value[int](t, clients, backends, idDatabase, user); n != 0 {
		t.Errorf("PostgreSQL has %d sessions of a client of the ID database", n)
	}
}
