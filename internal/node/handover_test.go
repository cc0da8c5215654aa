//go:build unix

package node_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/tests/support/server"
)

// shared gives a node a listening socket that others hold, too.
func shared(t *testing.T, socket interface{ File() (*os.File, error) }) net.Listener {
	t.Helper()
	file, err := socket.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ln, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func TestASocketThatIsSharedIsLeftToTheNextProcessWithAllThatWaitsInIt(t *testing.T) {
	server.NoLeak(t)
	direct := server.Migrated(t)
	path := filepath.Join(server.PublicDir(t), "clients") // short enough for a socket
	for network, place := range map[string]string{"tcp": "127.0.0.1:0", "unix": path} {
		t.Run(network, func(t *testing.T) {
			socket, err := net.Listen(network, place)
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			begin := func(name string) *running {
				s := settings(t, direct, name)
				s.Listen, s.Listener = "", shared(t, socket.(interface{ File() (*os.File, error) }))
				return start(t, s)
			}
			connect := func() (*pgx.Conn, error) {
				config, err := pgx.ParseConfig(direct)
				if err != nil {
					return nil, err
				}
				config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
					return net.Dial(network, socket.Addr().String())
				}
				return pgx.ConnectConfig(t.Context(), config)
			}

			first := begin("first")
			busy, err := connect()
			if err != nil {
				t.Fatal(err)
			}
			server.Do(t, busy, "BEGIN")
			first.stop()
			first.log.await(t, "handed over")
			connected := make(chan error, 1)
			go func() {
				newcomer, err := connect()
				if err == nil {
					_, err = newcomer.Exec(t.Context(), "SELECT 1")
					newcomer.Close(t.Context())
				}
				connected <- err
			}()
			second := begin("second")
			if err := <-connected; err != nil {
				t.Errorf("a client that came while the first was draining: %v", err)
			}
			server.Do(t, busy, "COMMIT")
			if err := first.result(t); err != nil {
				t.Errorf("the first ended with %v", err)
			}
			if err := second.end(t); err != nil {
				t.Errorf("the second ended with %v", err)
			}
			if conn, err := net.Dial(network, socket.Addr().String()); err != nil {
				t.Errorf("the end of a node has ended the socket: %v", err)
			} else {
				conn.Close()
			}
		})
	}
}

func TestTheWorkerTableHasAnAddressThatOthersCanUse(t *testing.T) {
	server.NoLeak(t)
	direct := server.Migrated(t)
	conn := server.Connect(t, direct)
	for name, c := range map[string]struct {
		listen, advertise string
		is                func(port string) string
	}{
		"every interface": {"0.0.0.0:0", "", func(port string) string { return "db-7:" + port }},
		"loopback":        {"127.0.0.1:0", "", func(port string) string { return "127.0.0.1:" + port }},
		"advertised":      {"127.0.0.1:0", "ids.example:6432", func(string) string { return "ids.example:6432" }},
	} {
		s := settings(t, direct, name)
		s.Listen, s.Advertise, s.Host = c.listen, c.advertise, "db-7"
		r := start(t, s)
		r.answers(t)
		expected := c.is(strconv.Itoa(r.Addr().(*net.TCPAddr).Port))
		address := server.Value[string](t, conn, "SELECT address FROM pgflurry.worker WHERE node = $1", name)
		if address != expected {
			t.Errorf("%s: the address is %s; expected %s", name, address, expected)
		}
		if err := r.end(t); err != nil {
			t.Error(err)
		}
	}
}

func TestASocketThatWasHandedOverIsClosedWhereNewFails(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := opened(config.Given{Settings: config.Settings{Listener: socket}}); err == nil {
		t.Fatalf("%v is a node without settings", n)
	}
	if _, err := socket.Accept(); err == nil {
		t.Error("the socket is open still")
	}
}
