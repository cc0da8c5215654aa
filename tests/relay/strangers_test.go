//go:build full

package relay

import (
	"crypto/tls"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/packet"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/race"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// many strangers come at once.
var many = volume.Of(4000, 20_000)

const (
	// spare is the number of descriptors that the test needs for itself.
	spare = 200
	// sources is the number of addresses that the strangers use: 127.0.0.2 and those after it.
	sources = 8
	// mostResident is the most memory that the proxy may have at any time, in bytes.
	mostResident = 64 << 20
)

// clientHello returns the first message of a TLS handshake.
func clientHello(t *testing.T) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	go func() {
		_ = tls.Client(theirs, &tls.Config{ServerName: "localhost", NextProtos: []string{"postgresql"}}).Handshake()
	}()
	hello := make([]byte, 16<<10)
	n, err := ours.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return hello[:n]
}

func TestStrangersExhaustNothing(t *testing.T) {
	direct := server.Migrated(t)
	server.Exec(t, direct, "DO $$ BEGIN CREATE ROLE stranger LOGIN IN ROLE login_scram PASSWORD 'secret'; "+
		"EXCEPTION WHEN duplicate_object THEN END $$")
	t.Cleanup(func() { server.Exec(t, direct, "DROP ROLE stranger") })
	database := server.Name(t, direct)
	cert, key := authority.New(t, "CA").Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}}).Write(t,
		t.TempDir(), "proxy")
	secure := []string{"--client-tls-cert", cert, "--client-tls-key", key, "--client-tls-timeout", "60s"}
	const sslRequest, cancelRequest, version = 80877103, 80877102, 3 << 16
	hello := clientHello(t)
	for _, kind := range []struct {
		name  string
		says  []byte
		flags []string
	}{
		{name: "silent"},
		{
			name: "half a startup packet",
			says: packet.Startup(version, "user", "stranger", "database", database)[:20],
		},
		{name: "half a CancelRequest", says: packet.First(cancelRequest, "\x00\x00\x00\x01")},
		{name: "CancelRequests of nothing", says: packet.First(cancelRequest, "\x00\x00\x00\x01\x00\x00\x00\x02")},
		{name: "SSLRequest and nothing", says: packet.First(sslRequest, ""), flags: secure},
		{name: "half a ClientHello", says: hello[:len(hello)/2], flags: secure},
		{name: "half a handshake", says: hello, flags: secure},
		{
			name: "no password", says: packet.Startup(version, "user", "stranger", "database", database),
			flags: []string{"--max-connections", "10"},
		},
	} {
		t.Run(kind.name, func(t *testing.T) {
			p := program.Serve(t, direct, kind.name, append([]string{"--window", "2s"}, kind.flags...)...)
			n := room(t)
			swarm(t, p.Address, n, kind.says)
			begun := time.Now()
			ordinary(t, p, kind.flags != nil && kind.flags[0] == secure[0])
			took := time.Since(begun)
			leaseIsRenewed(t, direct, kind.name)
			out, err := exec.Command(program.Path(t), "health", "--listen", p.Address, "--timeout", "60s").
				CombinedOutput()
			if err != nil {
				t.Errorf("health: %v\n%s", err, out)
			}
			resident := p.PeakMemory()
			t.Logf("%d strangers: an ordinary client was served in %v, and the proxy had %d MB at most",
				n, took, resident>>20)
			if resident > mostResident && !race.Enabled {
				t.Errorf("the proxy had %d bytes of memory; expected %d at most", resident, mostResident)
			}
		})
	}
}

// The proxy raises the soft limit to the hard one. It keeps descriptors for its own connections, and clients get the
// rest, two each.
func TestDescriptorsAreKeptForTheProxysOwnConnections(t *testing.T) {
	direct := server.Migrated(t)
	args := append([]string{"-c", `ulimit -Sn 64 && ulimit -Hn 269 && exec "$@"`, "sh", program.Path(t)},
		program.ServeArgs(t, direct, "few", "--window", "2s")...)
	p := program.StartCommand(t, exec.Command("sh", args...)).Proxy(direct)
	// Go's runtime keeps one descriptor.
	if line := p.Line("msg=\"limits on clients\""); program.Field(line, "clients") != "100" ||
		program.Field(line, "max_logins") != "50" {
		t.Errorf("with 269 descriptors, 68 of them kept, the log says %s", line)
	}
	p.Leased()
	swarm(t, p.Address, 1000, nil)
	ordinary(t, p, false)
	leaseIsRenewed(t, direct, "few")
	if strings.Contains(p.Output(), "accept fails") || strings.Contains(p.Output(), "connection refused") {
		t.Errorf("descriptors ran out, or each stranger has a line of the log:\n%s", p.Output())
	}
}

// room returns the number of strangers that this process can open.
func room(t *testing.T) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return min(many, int(limit.Cur)-spare)
}

// swarm connects n strangers from several addresses. Each sends its bytes and stays. The proxy may hang up.
func swarm(t *testing.T, address string, n int, says []byte) {
	t.Helper()
	conns := make([]net.Conn, n)
	t.Cleanup(func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	})
	var all sync.WaitGroup
	next := make(chan int)
	for range 16 {
		all.Go(func() {
			for i := range next {
				from := net.Dialer{
					Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%sources))},
				}
				conn, err := from.Dial("tcp", address)
				if err != nil {
					t.Errorf("stranger %d: %v", i, err)
					continue
				}
				conns[i] = conn
				_, _ = conn.Write(says)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// ordinary is a client that logs in and gets an ID from memory.
func ordinary(t *testing.T, p *program.Proxy, secure bool) {
	t.Helper()
	u := server.Parse(t, p.URL)
	if secure {
		u.RawQuery = "sslmode=require"
	}
	conn := server.Connect(t, u.String())
	defer conn.Close(t.Context())
	if id := server.Value[int64](t, conn, "SELECT next_snowflake()"); id == 0 {
		t.Error("no ID")
	}
}

// leaseIsRenewed waits until a node's mark rises.
func leaseIsRenewed(t *testing.T, direct, node string) {
	t.Helper()
	conn := server.Connect(t, direct)
	mark := server.Value[string](t, conn, "SELECT reserved_until::text FROM pgflurry.worker WHERE node = $1", node)
	server.Eventually(t, conn,
		"EXISTS (SELECT FROM pgflurry.worker WHERE node = '"+node+"' AND reserved_until > "+mark+")")
}
