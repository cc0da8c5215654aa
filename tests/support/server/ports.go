package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// given counts the ports that FreePort has given or found taken.
var given atomic.Uint32

// ownPorts is the first port of this process's range: a lock keeps other processes from it until this one ends.
var ownPorts = sync.OnceValues(func() (int, error) {
	for n := range portRanges {
		at := lowestPort + (os.Getpid()+n)%portRanges*portsEach
		_, lock, err := Cached(fmt.Sprintf("ports-%d", at), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			locks = append(locks, lock)
			return at, nil
		} else if !errors.Is(err, syscall.EWOULDBLOCK) {
			return 0, err
		}
	}
	return 0, errors.New("other processes have all ranges of ports")
})

// locks are open, so that they are held.
var locks []*os.File

// The ranges are below the ports that the system gives to connections: one might take such a port at any moment. Those
// of Linux begin at 32768 (net.ipv4.ip_local_port_range).
const (
	lowestPort, portsEach = 10_000, 256
	portRanges            = (32_768 - lowestPort) / portsEach
)

// FreePort returns a port that nobody uses at the moment, and that no other test package gets. So a test may close it
// and open it again.
func FreePort(t testing.TB) int {
	t.Helper()
	own, err := ownPorts()
	if err != nil {
		t.Fatal(err)
	}
	for range portsEach {
		port := own + int(given.Add(1))%portsEach
		ln, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			ln.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
