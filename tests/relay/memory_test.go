package relay

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// most is the number of bytes by which the proxy may grow while some side does not read. It is far less than the data
// under way, and far more than the proxy's buffers.
const most = 16 << 20

func TestClientsThatDoNotReadCostNoMemory(t *testing.T) {
	t.Parallel()
	const sessions = 16
	direct := server.Migrated(t)
	p := program.ServeUnleased(t, direct, t.Name())
	before := p.PeakMemory()
	for range sessions {
		deaf := open(t, p.Address, server.Name(t, direct), "application_name", "deaf")
		deaf.say(query("SELECT repeat('x', 1000000) FROM generate_series(1, 1000)")) // a result of 1 GB for each client
	}
	blocked(t, direct, "deaf", sessions)
	if grown := p.PeakMemory() - before; grown > most {
		t.Errorf("the proxy grew by %d MB for %d clients that do not read", grown>>20, sessions)
	}
}

func TestClientsThatOnlyAskCostNoMemory(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.ServeUnleased(t, direct, t.Name())
	p.Line("worker acquired")
	before := p.PeakMemory()
	r := open(t, p.Address, server.Name(t, direct))
	// 24 MB of statements with results of 100 GB
	questions := bytes.Repeat(query("SELECT next_snowflake() FROM generate_series(1, 10000)"), 400_000)
	if rest, err := push(t, r.conn, questions); err != nil || len(rest) == 0 {
		t.Errorf("the proxy took all %d bytes of a client that reads nothing, %v", len(questions), err)
	}
	if grown := p.PeakMemory() - before; grown > most {
		t.Errorf("the proxy grew by %d MB for a client that reads none of its answers", grown>>20)
	}
}

func TestAServerThatDoesNotReadCostsNoMemory(t *testing.T) {
	t.Parallel()
	const said = 256 << 20
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			(&raw{t: t, conn: conn.(*net.TCPConn)}).greet("12345678") // and reads no more
		}
	}()
	p := program.ServeUnleased(t, server.Migrated(t), t.Name(), "--upstream", listener.Addr().String())
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"a large message", query(strings.Repeat("x", said))},
		// The proxy remembers what is owed for each message that the kernel has taken.
		{"small messages", bytes.Repeat(query("SELECT 1"), said/14)},
		{"small messages that no Sync follows", bytes.Repeat(execute("", false), said/44)},
		{"the smallest", bytes.Repeat(encode(&pgproto3.Sync{}), said/5)},
	} {
		before := p.PeakMemory()
		r := open(t, p.Address, "any")
		rest, err := push(t, r.conn, c.b)
		if err != nil {
			t.Fatal(err)
		}
		taken, grown := len(c.b)-len(rest), p.PeakMemory()-before
		t.Logf("%s: the proxy took %d kB and grew by %d kB", c.name, taken>>10, grown>>10)
		if taken > said/2 || grown > most {
			t.Errorf("%s: for a server that does not read the proxy took %d MB and grew by %d MB",
				c.name, taken>>20, grown>>20)
		}
	}
}
