//go:build full

package idle

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgflurry/tests/support/packet"
	"pgflurry/tests/support/race"
	"pgflurry/tests/support/server"
)

var (
	wanted  = flag.Int("sessions", 10_000, "how many sessions to open")
	profile = flag.String("profile", "", "write the proxy's heap profile, with the sessions open, to this file")
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		server.Main(m)
	case "proxy":
		beProxy()
	case "ids":
		beIDs()
	case "upstream":
		beUpstream()
	default:
		fmt.Fprintf(os.Stderr, "%s is %q; expected proxy, ids or upstream\n", roleVariable, role)
		os.Exit(2)
	}
}

// room raises the limit of descriptors for this process and its children. It returns how many sessions fit if the
// busiest process needs this number of descriptors for each.
func room(b *testing.B, each int) int {
	b.Helper()
	const spare = 100
	need := syscall.Rlimit{Cur: uint64(each**wanted + spare), Max: uint64(each**wanted + spare)}
	var have syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &have); err != nil {
		b.Fatal(err)
	}
	need.Max = max(need.Max, have.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &need); err == nil {
		return *wanted
	}
	fit := int(have.Max-spare) / each
	b.Logf("this process may have %d descriptors, so %d sessions are opened instead of %d; "+
		"as root it would raise the limit", have.Max, fit, *wanted)
	have.Cur = have.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &have); err != nil {
		b.Fatal(err)
	}
	return min(fit, *wanted)
}

func BenchmarkIdleSessions(b *testing.B) {
	for b.Loop() {
		up := start(b, "upstream", "")
		proxy := start(b, "proxy", up.address)
		measure(b, proxy, room(b, 2), 1, func() (net.Conn, error) { return work(proxy.address) })
		proxy.end(b)
		up.end(b)
	}
}

func TestTheStacksOfAnIdleSessionShrinkToFourKiB(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes stack frames larger")
	}
	up := start(t, "upstream", "")
	for _, of := range []struct {
		role, upstream string
		open           func(address string) (net.Conn, error)
		goroutines     float64
	}{
		{"proxy", up.address, work, 2},
		{"ids", "", func(address string) (net.Conn, error) { return workInside(address, false) }, 1},
	} {
		t.Run(of.role, func(t *testing.T) {
			const sessions = 200
			server := start(t, of.role, of.upstream)
			before := server.ask(t, "collect").Stacks
			for range sessions {
				conn, err := of.open(server.address)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			// A collection halves a stack if less than a quarter of it is in use. A login and a draw need 16 KiB.
			var after uint64
			for range 4 {
				after = server.ask(t, "collect").Stacks
			}
			if each := (float64(after) - float64(before)) / sessions / of.goroutines / 1024; each > 6 {
				t.Errorf("a goroutine of an idle session has a stack of %.1f KiB; expected 4: "+
					"the calls below its wait keep at most 1,248 bytes", each)
			}
			server.end(t)
		})
	}
	up.end(t)
}

// measure opens sessions, and each draws this number of IDs. Then it reports how much the server has grown, divided by
// the sessions.
func measure(b *testing.B, server *child, sessions, ids int, open func() (net.Conn, error)) {
	b.Helper()
	before, kernelBefore := server.ask(b, "collect"), slabs(b)
	conns := make([]net.Conn, sessions)
	var opening sync.WaitGroup
	next := make(chan int)
	for range 8 {
		opening.Go(func() {
			for i := range next {
				c, err := open()
				if err != nil {
					b.Errorf("session %d: %v", i, err)
				}
				conns[i] = c
			}
		})
	}
	for i := range conns {
		next <- i
	}
	close(next)
	opening.Wait()
	if b.Failed() {
		b.FailNow()
	}
	asIs, kernel := server.ask(b, "report"), slabs(b)
	collected := server.ask(b, "collect")
	if asIs.Sessions != sessions || asIs.IDs != int64(sessions*ids) {
		b.Fatalf("the server has %d sessions and gave %d IDs; expected %d and %d",
			asIs.Sessions, asIs.IDs, sessions, sessions*ids)
	}
	if *profile != "" {
		server.ask(b, "profile "+*profile)
	}
	per := func(after, before uint64) float64 {
		return (float64(after) - float64(before)) / float64(sessions) / 1024
	}
	b.ReportMetric(0, "ns/op") // the time means nothing here
	b.ReportMetric(float64(sessions), "sessions")
	b.ReportMetric(per(asIs.RSS, before.RSS), "KiB-RSS/session")
	b.ReportMetric(per(collected.RSS, before.RSS), "KiB-collected-RSS/session")
	b.ReportMetric(per(collected.Stacks, before.Stacks), "KiB-stacks/session")
	b.ReportMetric(per(collected.Heap, before.Heap), "KiB-heap/session")
	b.ReportMetric(per(kernel, kernelBefore), "KiB-kernel/session")
	for _, c := range conns {
		c.Close()
	}
}

// work opens a session, draws an ID from memory, prepares and runs a statement on upstream, and leaves the session
// idle.
func work(address string) (net.Conn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	hello := packet.Startup(3<<16, "user", "ann", "database", "app", "application_name", "idle",
		"client_encoding", "UTF8")
	in := bufio.NewReaderSize(conn, 512)
	for _, said := range [][]byte{
		hello, message('Q', "SELECT next_snowflake()\x00"),
		append(append(append(message('P', "name\x00SELECT 1\x00\x00\x00"),
			message('B', "\x00name\x00\x00\x00\x00\x00\x00\x00")...),
			message('E', "\x00\x00\x00\x00\x00")...), message('S', "")...),
	} {
		if _, err := conn.Write(said); err != nil {
			return conn, err
		}
		if err := untilReady(in); err != nil {
			return conn, fmt.Errorf("after %q: %w", said, err)
		}
	}
	return conn, nil
}

func message(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// untilReady reads up to and including the next ReadyForQuery.
func untilReady(in *bufio.Reader) error {
	for {
		kind, _, err := frame(in)
		if err != nil || kind == 'Z' {
			return err
		}
	}
}

func frame(in *bufio.Reader) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > 1<<20 {
		return 0, nil, fmt.Errorf("message %q of %d bytes", head[0], size)
	}
	body = make([]byte, size-4)
	_, err = io.ReadFull(in, body)
	return head[0], body, err
}

// slabs returns the kernel's memory for its own objects, such as sockets, in bytes.
func slabs(b *testing.B) uint64 {
	b.Helper()
	return field(b, "/proc/meminfo", "Slab:")
}

// field reads a line of a file in /proc that has kilobytes, and returns bytes.
func field(b testing.TB, path, name string) uint64 {
	value, err := kilobytes(path, name)
	if err != nil {
		b.Fatal(err)
	}
	return value
}

func kilobytes(path, name string) (uint64, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			var n uint64
			_, err := fmt.Sscan(rest, &n)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no line %s", path, name)
}
