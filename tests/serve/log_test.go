package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAFloodOfRefusedClientsIsCountedAndTheCountIsToldAtTheEnd(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	command := exec.Command(program.Path(t), program.ServeArgs(t, direct, "flood")...)
	command.Env = append(os.Environ(), "PGFLURRY_LOG_FORMAT=json")
	p := program.StartCommand(t, command)
	var listening struct{ Address string }
	if err := json.Unmarshal([]byte(p.Line(`"msg":"listening"`)), &listening); err != nil {
		t.Fatal(err)
	}
	const clients = 200
	for range clients {
		conn, err := net.Dial("tcp", listening.Address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte{0, 0, 0, 9}); err != nil { // announces a packet that never comes
			t.Error(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
		for err == nil {
			_, err = conn.Read(make([]byte, 512)) // until the proxy has hung up
		}
		conn.Close()
	}
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	told, lines := 0, 0
	for text := range strings.Lines(p.Output()) {
		var line struct {
			Msg      string
			Repeated int
			Client   string
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("%q is no JSON: %v", text, err)
		}
		if line.Client != "" {
			lines++
			told += max(1, line.Repeated)
		}
	}
	if told != clients || lines > clients/4 {
		t.Errorf("%d clients were refused; %d lines tell of %d", clients, lines, told)
	}
}

func TestAProxyOutlivesWhoReadsItsLog(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	log, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program.Path(t), program.ServeArgs(t, direct, "unread")...)
	command.Stderr = write
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	address, lines := "", bufio.NewScanner(log)
	for address == "" && lines.Scan() {
		if strings.Contains(lines.Text(), "msg=listening") {
			address = program.Field(lines.Text(), "address")
		}
	}
	log.Close()
	u := server.Parse(t, direct)
	u.Host = address
	for range 3 { // each of them is logged
		stranger, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stranger.Write([]byte{0, 0, 0, 9}); err != nil {
			t.Error(err)
		}
		stranger.Close()
		conn := server.Connect(t, u.String())
		server.Do(t, conn, "SELECT 1")
		conn.Close(t.Context())
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the proxy: %v", err)
	}
}

func TestTheLinesOfABusyLogAreInOrder(t *testing.T) {
	t.Parallel()
	c := serveConfigured(t, server.Migrated(t), "busy", `log-level = "debug"`)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 60 {
				conn, err := pgx.Connect(server.Within(t), c.URL)
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.Close(context.Background())
			}
		})
	}
	for i := range 8 {
		c.reload(`log-level = "debug"`, fmt.Sprint("max-logins = ", 100+i))
	}
	clients.Wait()
	c.Signal(syscall.SIGTERM)
	c.End()
	last := ""
	for line := range strings.Lines(c.Output()) {
		at := program.Field(" "+line, "time")
		if at < last {
			t.Errorf("after %s: %s", last, line)
		}
		last = at
	}
}
