//go:build linux

package proxy

import (
	"bytes"
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// stuffs writes until the other side takes nothing for a second, and returns how many bytes it took.
func stuffs(t *testing.T, c net.Conn, messages []byte) (taken int) {
	t.Helper()
	for {
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Write(messages)
		taken += n
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return taken
		case err != nil:
			t.Fatal(err)
		}
	}
}

func TestInvariant13NoClientKeepsASessionThatUpstreamHasEndedByReadingNothing(t *testing.T) {
	offer, trusted := offers(t)
	notify := message('A', []byte{0, 0, 0, 1}, z("channel"), z(""))
	theirEnd := message('E', z("SFATAL"), z("VFATAL"), z("C57P01"), z("Mterminating"), []byte{0})
	for name, stuck := range map[string]func(r *rig){
		"of rows": func(r *rig) {
			r.send(query("SELECT many"))
			r.toUpstream(query("SELECT many"))
			stuffs(r.t, r.upstream, bytes.Repeat(dataRow("1"), 10_000))
		},
		"of one large row": func(r *rig) {
			r.send(query("SELECT large"))
			r.toUpstream(query("SELECT large"))
			r.reply([]byte{'D', 63, 255, 255, 255})
			stuffs(r.t, r.upstream, make([]byte, 1<<20))
		},
		"of answers": func(r *rig) {
			stuffs(r.t, r.client, bytes.Repeat(ourQuery, 10_000))
			r.reply(notify, theirEnd) // so that there is something to write before the end can be read
		},
	} {
		for way, inside := range map[string]bool{"in plain text": false, "inside TLS": true} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				arrivals := make(chan net.Conn, 1)
				r := newRigBeforeStartup(t, &counter{}, offer, overUnix(t, arrivals),
					func(s *Settings) { s.deafTime, s.UnixUpstreamTrustsClients = 50*time.Millisecond, true })
				r.arrivals = arrivals
				if inside {
					r.requestsTLS(trusted)
				}
				r.startsUp()
				stuck(r)
				if n := r.proxy.Stats().Now; n != 1 {
					t.Fatalf("%d sessions before upstream has ended; expected one", n)
				}
				r.upstream.Close()
				ended := make(chan struct{})
				go func() { r.proxy.Wait(); close(ended) }()
				select {
				case <-ended:
				case <-time.After(giveUp):
					t.Fatal("the session goes on")
				}
				if st := r.proxy.Stats(); st.Now != 0 {
					t.Errorf("after the end: %+v", st)
				}
			})
		}
	}
}

func TestAClientThatReadsLateGetsAllWhileUpstreamIsThere(t *testing.T) {
	t.Parallel()
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.deafTime = time.Millisecond })
	r.startsUp()
	r.send(query("SELECT many"))
	r.toUpstream(query("SELECT many"))
	rows := stuffs(t, r.upstream, dataRow("1")) / len(dataRow("1")) // the proxy has looked many times by the end
	r.toClient(bytes.Repeat(dataRow("1"), rows))
}
