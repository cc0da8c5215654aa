//go:build unix

package serve

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAServiceManagerIsToldOfTheBeginningTheStateReloadsAndTheEnd(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	m := &manager{t: t, more: []string{"WATCHDOG_USEC=200000"}}
	u := m.start(program.ServeArgs(t, direct, "told", "--drain-timeout", "7s")...)
	_, seen := u.told.awaitFrom(0, "READY=1")
	if _, err := pgx.Connect(t.Context(), u.Proxy(direct).URL); err != nil {
		t.Errorf("it says that it is ready, but: %v", err)
	}
	u.told.await("s without PostgreSQL") // it has a worker, and says for how long
	_, seen = u.told.awaitFrom(seen, "WATCHDOG=1")

	u.Signal(syscall.SIGHUP)
	reloading, seen := u.told.awaitFrom(seen, "RELOADING=1")
	if !strings.Contains(reloading, "\nMONOTONIC_USEC=") {
		t.Errorf("the reload was told by %q; systemd needs its moment", reloading)
	}
	_, seen = u.told.awaitFrom(seen, "READY=1")

	u.Signal(syscall.SIGTERM)
	stopping, _ := u.told.awaitFrom(seen, "STOPPING=1")
	if !strings.Contains(stopping, "\nEXTEND_TIMEOUT_USEC=12000000") {
		t.Errorf("the end was told by %q; expected that it takes the drain timeout and 5 s", stopping)
	}
	if code := u.End(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
}

func TestASocketFromAServiceManagerTakesThePlaceOfListen(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	m := &manager{t: t}
	address := m.listen("pgflurry.socket") // systemd's default name
	u := m.start(program.ServeArgs(t, direct, "handed", "--listen", "127.0.0.1:1")...)
	if p := u.Proxy(direct); p.Address != address {
		t.Errorf("it listens on %s; expected %s", p.Address, address)
	}
}

func TestASocketForOperatorsTakesThePlaceOfAdminListen(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	m := &manager{t: t}
	operators, clients := m.listen("admin"), m.listen("clients")
	u := m.start(program.ServeArgs(t, direct, "both")...)
	if p := u.Proxy(direct); p.Address != clients {
		t.Errorf("it listens on %s; expected %s", p.Address, clients)
	}
	answer, err := (&http.Client{Timeout: server.Patience}).Get("http://" + operators + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("operators get %s", answer.Status)
	}
}

func TestSocketsThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	const called = "from the service manager is called "
	for says, names := range map[string][]string{
		"socket 1 of 2 " + called + `"web"; expected one that is called clients`: {"web", "clients"},
		"socket 2 of 2 " + called + `"clients"`:                                  {"clients", "clients"},
	} {
		m := &manager{t: t}
		for _, name := range names {
			m.listen(name)
		}
		u := m.start("serve", "--upstream", "127.0.0.1:1", "--lease-database", "postgres://u@127.0.0.1:1/d")
		u.Line(says)
		u.Line("hint: A socket unit gives its sockets a name by FileDescriptorName")
		if code := u.End(); code != 2 {
			t.Errorf("it ended with code %d; expected that of usage", code)
		}
	}
}

func TestASocketThatIsBoundAndDoesNotListenIsRefused(t *testing.T) {
	t.Parallel()
	bound, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(bound, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	m := &manager{t: t, sockets: []*os.File{os.NewFile(uintptr(bound), "clients")}, names: []string{"clients"}}
	defer m.sockets[0].Close()
	u := m.start("serve", "--upstream", "127.0.0.1:1", "--lease-database", "postgres://u@127.0.0.1:1/d")
	u.Line("cannot be listened on: it is bound, but does not listen")
	if code := u.End(); code != 2 {
		t.Errorf("it ended with code %d; expected that of usage", code)
	}
}

// systemd's own tool passes a socket on. This shows that the stand-in speaks as systemd does.
func TestSystemdItselfHandsASocketOver(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		if os.Getenv("PGFLURRY_TEST_SYSTEMD") == "1" {
			t.Fatal(err)
		}
		t.Skip("systemd is not installed, and PGFLURRY_TEST_SYSTEMD is not 1")
	}
	direct := server.Migrated(t)
	address := fmt.Sprintf("127.0.0.1:%d", server.FreePort(t))
	args := append([]string{"--listen", address, "--fdname", "clients", program.Path(t)},
		program.ServeArgs(t, direct, "activated", "--listen", "127.0.0.1:1")...)
	p := program.StartCommand(t, exec.Command(tool, args...))
	p.Line("Listening on " + address)
	conn, err := net.Dial("tcp", address) // the connection starts the product
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	proxy := p.Proxy(direct)
	if proxy.Address != address {
		t.Errorf("it listens on %s; expected %s", proxy.Address, address)
	}
	mustDraw(t, server.Connect(t, proxy.URL))
}
