//go:build full

package idle

import (
	"bufio"
	"bytes"
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/xdg-go/scram"
	"golang.org/x/sys/unix"

	verifiers "pgflurry/proxy/scram"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

var logins = flag.Int("logins", 10_000, "how many clients log in at once")

// All clients of a storm connect at the same moment. In the first benchmark each derives its keys from the password, as
// a driver does. In the second they have done that before, so only the part of the server and the kernel is left.
func BenchmarkLoginStorm(b *testing.B) {
	for _, of := range []struct {
		name    string
		derived bool
	}{{"that derives its keys", false}, {"that has its keys", true}} {
		b.Run(of.name, func(b *testing.B) {
			server.Binaries(b)
			clients := min(*logins, room(b, 1))
			p := program.Serve(b, server.Migrated(b), "storm", loginFlags(b, clients)...)
			derive := newKeys
			if of.derived {
				one := newKeys()
				conn, _, err := enter(p.Address, one)
				if err != nil {
					b.Fatal(err)
				}
				conn.Close()
				derive = func() *scram.Client { return one }
			}
			for b.Loop() {
				storm(b, p, clients, derive)
			}
		})
	}
}

// loginFlags returns the flags that allow this number of clients to log in at once from one address.
func loginFlags(b *testing.B, clients int) []string {
	b.Helper()
	verifier, err := verifiers.NewVerifier(idPassword, verifiers.DefaultIterations)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "clients")
	if err := os.WriteFile(file, fmt.Appendf(nil, "%q %q\n", idUser, verifier.Text()), 0o600); err != nil {
		b.Fatal(err)
	}
	most := strconv.Itoa(clients)
	return []string{
		"--id-database", idDatabase, "--id-auth-file", file, "--max-logins", most, "--max-logins-per-address", most,
	}
}

// storm lets all clients log in at once. It reports how long that took, and the processor time of each side.
func storm(b *testing.B, p *program.Proxy, clients int, derive func() *scram.Client) {
	b.Helper()
	conns, took := make([]net.Conn, clients), make([]time.Duration, clients)
	var ready, done sync.WaitGroup
	now := make(chan struct{})
	var began time.Time
	var again atomic.Int64
	for i := range clients {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-now
			conn, refused, err := enter(p.Address, derive())
			if conns[i], took[i] = conn, time.Since(began); err != nil {
				b.Errorf("client %d: %v", i, err)
			}
			again.Add(int64(refused))
		})
	}
	ready.Wait()
	ownBefore, serverBefore := timeOf(b, os.Getpid()), timeOf(b, p.PID())
	began = time.Now()
	close(now)
	done.Wait()
	all := time.Since(began)
	own, ofServer := timeOf(b, os.Getpid())-ownBefore, timeOf(b, p.PID())-serverBefore
	if b.Failed() {
		b.FailNow()
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(all.Seconds(), "s")
	b.ReportMetric(float64(clients)/all.Seconds(), "logins/s")
	b.ReportMetric(took[clients/2].Seconds(), "s-p50")
	b.ReportMetric(took[clients*99/100].Seconds(), "s-p99")
	b.ReportMetric(float64(ofServer.Microseconds())/float64(clients), "server-µs/login")
	b.ReportMetric(float64(own.Microseconds())/float64(clients), "clients-µs/login")
	b.ReportMetric(float64(again.Load())/float64(clients), "refused/login")
	b.ReportMetric(float64(clients)*derivation().Seconds()/float64(runtime.NumCPU()), "s-of-iterations")
	for _, conn := range conns {
		conn.Close()
	}
}

// enter connects and logs in. If the proxy has no place for another client that has not logged in, it counts that and
// tries again a moment later. Pools of drivers do the same.
func enter(address string, as *scram.Client) (conn net.Conn, refused int, err error) {
	for ; ; refused++ {
		if conn, err = net.Dial("tcp", address); err != nil {
			return nil, refused, err
		}
		err = logIn(conn, bufio.NewReaderSize(conn, 512), as.NewConversation())
		turnedAway := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE)
		if !turnedAway && !errors.Is(err, errNoPlace) || refused == mostRefused {
			return conn, refused, err
		}
		conn.Close()
		server.Pause(context.Background(), time.Duration(rand.Int64N(int64(200*time.Millisecond))))
	}
}

// mostRefused limits how often the proxy may refuse one client.
const mostRefused = 1000

// derivation returns the time for the 4,096 iterations of a password on one processor: the least of many measurements.
func derivation() time.Duration {
	least := time.Hour
	for range 100 {
		began := time.Now()
		if _, err := pbkdf2.Key(sha256.New, idPassword, bytes.Repeat([]byte("s"), 16), 4096, 32); err != nil {
			check(err)
		}
		least = min(least, time.Since(began))
	}
	return least
}

// timeOf returns the processor time of a process, in user and system mode (clock_getcpuclockid(3)).
func timeOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	var spent unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|2, &spent); err != nil {
		b.Fatal(err)
	}
	return time.Duration(spent.Nano())
}
