package serve

import (
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// quietProxy is a proxy with an ID database that is quiet a second after its last client.
func quietProxy(t testing.TB, direct, node string) *program.Proxy {
	t.Helper()
	return program.Serve(t, direct, node, "--quiet-after", "1s", "--id-database", "ids", "--id-auth", "trust")
}

func TestAProxyThatIsKilledWhileItIsQuietLeavesItsWorkerToTheNextOneAtOnce(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := quietProxy(t, direct, "killed")
	worker := program.Field(p.Line("worker acquired"), "worker")
	p.Line("msg=\"quiet: ")
	conn := server.Connect(t, direct)
	server.Eventually(t, conn, "NOT EXISTS (SELECT FROM pgflurry.worker WHERE node = 'killed' AND released_at IS NULL)")
	p.Signal(syscall.SIGKILL)
	p.End()
	server.Eventually(t, conn, "pgflurry.ticks(clock_timestamp()) > (SELECT max(reserved_until) FROM pgflurry.worker)")
	if again := program.Field(quietProxy(t, direct, "killed").Line("worker acquired"), "worker"); again != worker {
		t.Errorf("after a kill it has worker %s, and had %s", again, worker)
	}
}
