package network

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"pgflurry/tests/support/server"
)

// A Switch is one address that leads to a server, and later to another one. Connections stay where they are, as with a
// balancer that is loaded anew, a name, or a floating address. Its methods are safe for concurrent use.
type Switch struct {
	t        testing.TB
	listener net.Listener

	mu     sync.Mutex
	place  int
	to     []string // address of each place, in the order in which it was led to them
	taken  []int    // connections to each place that were begun
	open   []int    // and those that are open
	change chan struct{}
}

// Behind opens a switch that leads to the server of a URL. It returns the URL through the switch. The switch ends with
// the test.
func Behind(t testing.TB, direct string) (*Switch, string) {
	t.Helper()
	u := server.Parse(t, direct)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Switch{t: t, listener: listener, change: make(chan struct{}), place: -1}
	s.Lead(u.Host)
	var all sync.WaitGroup
	all.Go(func() { s.accept(&all) })
	t.Cleanup(func() { listener.Close(); all.Wait() })
	u.Host = listener.Addr().String()
	return s, u.String()
}

// Address is the host and port of the switch.
func (s *Switch) Address() string { return s.listener.Addr().String() }

// Lead leads new connections to an address: to the next place, counted from 0. Those that are open stay.
func (s *Switch) Lead(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place++
	s.to, s.taken, s.open = append(s.to, address), append(s.taken, 0), append(s.open, 0)
	s.changed()
}

// Taken is how many connections to a place were begun.
func (s *Switch) Taken(place int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[place]
}

// Left waits until no connection to a place is open.
func (s *Switch) Left(place int) {
	s.t.Helper()
	s.until(func() bool { return s.open[place] == 0 })
}

// Reached waits until so many connections to a place were begun.
func (s *Switch) Reached(place, connections int) {
	s.t.Helper()
	s.until(func() bool { return s.taken[place] >= connections })
}

func (s *Switch) until(holds func() bool) {
	s.t.Helper()
	ctx := server.Within(s.t)
	for {
		s.mu.Lock()
		done, change, taken, open := holds(), s.change, slices.Clone(s.taken), slices.Clone(s.open)
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-change:
		case <-ctx.Done():
			s.t.Fatalf("of %v connections to the places %v are open", taken, open)
		}
	}
}

func (s *Switch) changed() {
	close(s.change)
	s.change = make(chan struct{})
}

// count adds to the connections of a place.
func (s *Switch) count(place, taken, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[place] += taken
	s.open[place] += open
	s.changed()
}

func (s *Switch) accept(all *sync.WaitGroup) {
	for {
		near, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		place, to := s.place, s.to[s.place]
		s.mu.Unlock()
		all.Go(func() { s.pass(near, place, to) })
	}
}

// pass passes everything on until either side ends.
func (s *Switch) pass(near net.Conn, place int, to string) {
	defer near.Close()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	s.count(place, 1, 1)
	defer s.count(place, 0, -1)
	defer far.Close()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			_, _ = io.Copy(way[1], way[0])
			ended <- struct{}{}
		}()
	}
	<-ended
	near.Close()
	far.Close()
	<-ended
}
