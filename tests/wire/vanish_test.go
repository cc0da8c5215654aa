package wire

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// vanished are the kinds of conversations that clients leave, each in few bytes.
var vanished = [][]message{
	slices.Concat(
		say(Query(ours)), say(Parse("", ours), Bind("", ""), Execute(""), Sync), // answered
		// forwarded, after a batch of the proxy's own
		say(Bind("p", ""), Execute("p"), Sync, Parse("s", ours), Sync, Bind("", "s"), Execute(""), Sync),
		say(Parse("", "bad"), Bind("", ""), Sync), // fails
		say(Query("COPY (SELECT 1) TO STDOUT"), Query("CREATE TEMP TABLE t (a int)"), Query("BEGIN"), Query(ours)),
		say(Query("COPY t FROM STDIN"), copyLine("1"), CopyDone, Sync, Query(ours)),
		say(Parse("", "COPY t FROM STDIN"), Bind("", ""), Execute(""), Sync, copyLine("1"), CopyDone,
			Sync, Query(ours)),
	),
	{Query(ours), Raw('H', "x"), Query(""), Bind("", "")}, // these once left a session behind
}

// leave has the ways to vanish.
var leave = map[string]func(conn *net.TCPConn) error{
	"closes":                 (*net.TCPConn).Close,
	"resets":                 func(conn *net.TCPConn) error { _ = conn.SetLinger(0); return conn.Close() },
	"half-closes and closes": func(conn *net.TCPConn) error { _ = conn.CloseWrite(); return conn.Close() },
}

// A client that vanishes at any byte leaves no session and no backend. The stand also checks that it leaves no
// goroutine.
func TestClientsThatVanishLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	st := newStand(t, 1)
	conn := server.Connect(t, st.twinURL)
	type client struct {
		said []byte
		way  string
	}
	var clients []client
	add := func(said []byte) {
		for way := range leave {
			clients = append(clients, client{said, way})
			if !volume.Full() {
				break // any of them
			}
		}
	}
	for _, messages := range vanished {
		b := joinBytes(messages)
		for n := range len(b) + 1 {
			add(b[:n])
		}
	}
	greeted := len(clients)
	hello := startup(st.database)
	for n := range hello {
		add(hello[:n])
	}
	const atOnce = 120 // backends; the server allows 200
	for wave := range slices.Chunk(indices(len(clients)), atOnce) {
		var vanishing sync.WaitGroup
		for i := range 12 {
			vanishing.Go(func() {
				for _, j := range wave[min(i, len(wave)):] {
					if (j-wave[0])%12 != i {
						continue
					}
					if err := st.vanish(clients[j].said, j < greeted, leave[clients[j].way]); err != nil {
						t.Errorf("%s after %q: %v", clients[j].way, clients[j].said, err)
					}
				}
			})
		}
		vanishing.Wait()
		server.Eventually(t, conn,
			fmt.Sprintf("NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '%s')", st.database))
	}
	t.Logf("%d clients vanished", len(clients))
	st.answering.shut()
	over := make(chan struct{})
	go func() {
		defer close(over)
		st.answering.proxy.Wait() // the drain sends nobody away: the clients have left
	}()
	select {
	case <-over:
	case <-time.After(patience):
		t.Fatalf("%d sessions are left", st.answering.proxy.Stats().Now)
	}
}

func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// vanish sends something, after the greeting or instead of it, and leaves.
func (st *stand) vanish(said []byte, greeted bool, leave func(*net.TCPConn) error) error {
	conn, err := st.answering.dial()
	if err != nil {
		return err
	}
	if greeted {
		s, err := start(conn, st.answering.name, st.database)
		if err != nil {
			return err
		}
		defer func() { _ = s.wait(func(transcript) bool { return false }) }() // ends its goroutine
	}
	if _, err := conn.Write(said); err != nil {
		return err
	}
	return leave(conn.(*net.TCPConn))
}
