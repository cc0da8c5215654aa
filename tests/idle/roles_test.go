//go:build full

package idle

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"

	"pgflurry/proxy"
	"pgflurry/tests/support/proxytest"
)

const roleVariable = "PGFLURRY_IDLE_ROLE"

// child is this program in another role. It prints the address on which it listens. Then it answers each line with a
// line.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	address string
}

func start(b testing.TB, role, upstream string) *child {
	b.Helper()
	c := &child{cmd: exec.Command(os.Args[0], upstream)}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	b.Cleanup(func() { _ = c.cmd.Process.Kill() })
	line, err := c.out.ReadString('\n')
	if err != nil {
		b.Fatalf("the %s did not start: %v", role, err)
	}
	c.address = strings.TrimSpace(line)
	return c
}

// report is the answer of a child about itself, in bytes.
type report struct {
	RSS, Heap, Stacks uint64
	Sessions          int
	IDs               int64
}

func (c *child) ask(b testing.TB, command string) (r report) {
	b.Helper()
	if _, err := fmt.Fprintln(c.in, command); err != nil {
		b.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		b.Fatalf("%s: %v", command, err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		b.Fatalf("%s: %q: %v", command, line, err)
	}
	return r
}

// end closes the child's input, which ends it, and waits.
func (c *child) end(b testing.TB) {
	b.Helper()
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		b.Error(err)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	return listener
}

// beProxy serves as a proxy, and reports on itself until its input ends.
func beProxy() {
	p, err := proxy.New(proxytest.Settings(os.Args[1]))
	check(err)
	listener := listen()
	go func() { check(p.Serve(listener)) }()
	answer(func(r *report) {
		st := p.Stats()
		r.Sessions, r.IDs = st.Now, st.IDs
	})
}

// describe returns the memory of this process. It first collects the garbage, except for the command "report". "profile
// FILE" also writes a heap profile.
func describe(command string) report {
	command, path, _ := strings.Cut(command, " ")
	if command != "report" {
		debug.FreeOSMemory()
	}
	if path != "" {
		var b bytes.Buffer
		check(pprof.Lookup("heap").WriteTo(&b, 0))
		check(os.WriteFile(path, b.Bytes(), 0o644))
	}
	rss, err := kilobytes("/proc/self/status", "VmRSS:")
	check(err)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return report{RSS: rss, Heap: m.HeapAlloc, Stacks: m.StackInuse}
}

// greeting has the messages of PostgreSQL 15 to a client that it trusts. Some values differ.
var greeting = bytes.Join([][]byte{
	message('R', "\x00\x00\x00\x00"), message('S', "application_name\x00idle\x00"),
	message('S', "client_encoding\x00UTF8\x00"), message('S', "DateStyle\x00ISO, MDY\x00"),
	message('S', "default_transaction_read_only\x00off\x00"), message('S', "in_hot_standby\x00off\x00"),
	message('S', "integer_datetimes\x00on\x00"), message('S', "IntervalStyle\x00postgres\x00"),
	message('S', "is_superuser\x00on\x00"), message('S', "server_encoding\x00UTF8\x00"),
	message('S', "server_version\x0015.4\x00"), message('S', "session_authorization\x00ann\x00"),
	message('S', "standard_conforming_strings\x00on\x00"), message('S', "TimeZone\x00Etc/UTC\x00"),
	message('K', "\x00\x00\x00\x01\x00\x00\x00\x02"), message('Z', "I"),
}, nil)

// beUpstream greets and completes every request, and nothing else, until its input ends.
func beUpstream() {
	listener := listen()
	go func() {
		for {
			conn, err := listener.Accept()
			check(err)
			go func() {
				defer conn.Close()
				in := bufio.NewReaderSize(conn, 512)
				var size [4]byte
				if _, err := io.ReadFull(in, size[:]); err != nil {
					return
				}
				if _, err := in.Discard(int(binary.BigEndian.Uint32(size[:])) - 4); err != nil {
					return
				}
				for said := greeting; ; {
					if _, err := conn.Write(said); err != nil || untilSync(in) != nil {
						return
					}
					said = bytes.Join([][]byte{
						message('1', ""), message('2', ""), message('C', "SELECT 0\x00"), message('Z', "I"),
					}, nil)
				}
			}()
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func untilSync(in *bufio.Reader) error {
	for {
		kind, _, err := frame(in)
		if err != nil || kind == 'S' {
			return err
		}
	}
}
