package relay

import (
	"testing"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

func TestAListIsTriedInOrderAndACancelRequestReachesTheServerOfItsSession(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	direct, other := server.Migrated(t), server.Private(t, nil)
	first, _ := network.To(t, other.URL("postgres"))
	second := server.Parse(t, direct).Host

	first.Lead("") // it refuses connections
	proxy := program.Serve(t, direct, "n", "--upstream", first.Address()+","+second)
	proxytest.PsqlCancels(t, proxy.URL, direct)

	conn := server.Connect(t, proxy.URL+"&application_name=on_the_second")
	first.Lead(at(other)) // new sessions reach a server that lacks the database
	refusedWith(t, proxy.URL, "3D000")
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT pg_sleep(600)")
		ended <- err
	}()
	server.Sleeps(t, server.Connect(t, direct), "on_the_second")
	if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Says(t, <-ended, "canceling statement due to user request")
}
