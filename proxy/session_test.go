package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/statement"
)

func TestEncryptionRequestsAreRefusedInAnyOrderAndTheStartupFollows(t *testing.T) {
	ssl := []byte{0, 0, 0, 8, 4, 210, 22, 47}
	gss := []byte{0, 0, 0, 8, 4, 210, 22, 48}
	for name, asked := range map[string][][]byte{
		"ssl": {ssl}, "gss": {gss}, "ssl then gss": {ssl, gss}, "gss then ssl": {gss, ssl},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{})
			for _, request := range asked {
				r.send(request)
				r.toClient([]byte{'N'})
			}
			r.send(startup("user", "u"))
			r.upstream = <-r.arrivals
			r.toUpstream(startup("user", "u"))
		})
	}
}

func TestALengthThatNoFirstPacketCanHaveEndsTheConnectionAtItsLastByte(t *testing.T) {
	for name, length := range map[string][]byte{
		"below 8": {0, 0, 0, 7}, "above 10,004": {0, 0, 0x27, 0x15}, "of a message": {'X', 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{})
			r.send(length)
			if got := r.rest(r.client); len(got) > 0 {
				t.Fatalf("the client got %q; expected the end", got)
			}
		})
	}
}

func TestAPacketThatPostgreSQLRefusesIsPassedOnAndSoIsItsRefusal(t *testing.T) {
	for name, packet := range map[string][]byte{
		"protocol 2":           {0, 0, 0, 8, 0, 2, 0, 0},
		"no terminator":        {0, 0, 0, 13, 0, 3, 0, 0, 'u', 's', 'e', 'r', 0},
		"cancel without a key": {0, 0, 0, 12, 4, 210, 22, 46, 0, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{})
			r.send(packet)
			r.upstream = <-r.arrivals
			r.toUpstream(packet)
			r.reply([]byte("in any words"))
			r.upstream.Close()
			if got := r.rest(r.client); string(got) != "in any words" {
				t.Fatalf("the client got %q", got)
			}
		})
	}
	t.Run("TLS is required", func(t *testing.T) {
		offer, _ := offers(t)
		r := newRigBeforeStartup(t, &counter{}, offer, requires)
		r.send([]byte{0, 0, 0, 8, 0, 2, 0, 0})
		r.toClient(fatalMessage(failTLSRequired))
	})
	t.Run("upstream is away", func(t *testing.T) {
		away := t.TempDir() + "/none"
		r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
			s.Upstream = []Host{{Network: "unix", Address: away}}
		})
		r.send([]byte{0, 0, 0, 8, 0, 2, 0, 0})
		r.toClient(fatalMessage(failDial))
	})
}

// serveOne runs a proxy with these settings for a client that sends one thing. It returns all that the client got.
func serveOne(t *testing.T, front net.Listener, s Settings, said []byte) (p *Proxy, told []byte, err error) {
	t.Helper()
	p, err = New(s)
	if err != nil {
		t.Fatal(err)
	}
	go p.Serve(front)
	c, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Write(said)
	told, err = io.ReadAll(c)
	return p, told, err
}

func TestAnUnreachableUpstreamIsAFatalWithAHint(t *testing.T) {
	gone := listen(t)
	gone.Close()
	front := listen(t)
	p, got, err := serveOne(t, front,
		Settings{Upstream: []Host{{Network: "tcp", Address: gone.Addr().String()}}, IDs: draw.New(&counter{}, nil)},
		startup("user", "u"))
	if err != nil || !bytes.Contains(got, []byte("57P03")) || !bytes.Contains(got, []byte("--upstream")) {
		t.Fatalf("the client got %q (%v); expected FATAL 57P03 with a hint", got, err)
	}
	front.Close()
	p.Wait()
}

func TestUpstreamsDeathIsToldOnce(t *testing.T) {
	t.Run("its own FATAL is passed on and nothing added", func(t *testing.T) {
		r := newRig(t, &counter{})
		farewell := message('E', z("SFATAL"), z("VFATAL"), z("C57P01"), []byte{0})
		r.reply(farewell)
		r.upstream.Close()
		if got := r.rest(r.client); !bytes.Equal(got, farewell) {
			t.Fatalf("the client got %q; expected %q", got, farewell)
		}
	})
	t.Run("without one the proxy says 08006", func(t *testing.T) {
		r := newRig(t, &counter{})
		r.upstream.Close()
		if got := r.rest(r.client); bytes.Count(got, []byte("08006")) != 1 {
			t.Fatalf("the client got %q; expected FATAL 08006 once", got)
		}
	})
}

func TestHalfCloseIsPassedOnAndTheRepliesStillCome(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("SELECT pg_sleep(1)"))
	r.client.(*net.TCPConn).CloseWrite()
	if got := r.rest(r.upstream); !bytes.Equal(got, query("SELECT pg_sleep(1)")) {
		t.Fatalf("upstream got %q", got)
	}
	r.reply(complete("SELECT 1"), ready('I'))
	r.upstream.Close()
	if got := r.rest(r.client); !bytes.Equal(got, join(complete("SELECT 1"), ready('I'))) {
		t.Fatalf("the client got %q", got)
	}
}

func TestCancelRequestsArePassedOnAsTheyCame(t *testing.T) {
	for name, key := range map[string]int{"protocol 3.0": 4, "protocol 3.2": 32, "the longest": 256} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{})
			packet := binary.BigEndian.AppendUint32(nil, uint32(12+key))
			packet = append(packet, 4, 210, 22, 46, 0, 0, 0, 9)
			packet = append(packet, bytes.Repeat([]byte{'k'}, key)...)
			r.send(packet)
			r.upstream = <-r.arrivals
			r.toUpstream(packet)
			r.upstream.Close()
			if got := r.rest(r.client); len(got) != 0 {
				t.Fatalf("the client got %q; a cancel request has no answer", got)
			}
		})
	}
}

func TestOnlySessionsOfTheNamespaceAreAnswered(t *testing.T) {
	for name, parameters := range map[string][]string{
		"another database":     {"user", "u", "database", "other"},
		"physical replication": {"user", "u", "database", "d", "replication", "true"},
		"logical replication":  {"user", "u", "database", "d", "replication", "database"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{})
			r.send(startup(parameters...))
			r.upstream = <-r.arrivals
			r.toUpstream(startup(parameters...))
			r.reply(authOK, ready('I'))
			r.toClient(authOK, ready('I'))
			r.send(ourQuery)
			r.toUpstream(ourQuery)
		})
	}
}

func TestAPermissionCanChangeWhileSessionsLive(t *testing.T) {
	r := newRig(t, &counter{})
	p := r.proxy.permission("d")
	r.send(ourQuery)
	r.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	p.Set(statement.NamesOf("public.next_snowflake"))
	r.relays(ourQuery, join(complete("SELECT 1"), ready('I')))
	r.send(query("SELECT public.next_snowflake()"))
	r.toClient(ourRow, dataRow("2"), complete("SELECT 1"), ready('I'))
	p.Set(0)
	r.send(query("SELECT public.next_snowflake()"))
	r.toUpstream(query("SELECT public.next_snowflake()"))
}

func TestDrainingSendsAwayWhoOwesNothingAndWaitsForTheOthers(t *testing.T) {
	idle := newRig(t, &counter{})
	busy := &rig{t: t, proxy: idle.proxy, address: idle.address}
	busy.client = busy.dial()
	defer busy.client.Close()
	busy.send(startup("user", "u", "database", "d"))
	busy.upstream = <-idle.arrivals
	defer busy.upstream.Close()
	busy.toUpstream(startup("user", "u", "database", "d"))
	busy.reply(authOK, ready('T'))
	busy.toClient(authOK, ready('T'))

	drained := make(chan struct{})
	go func() { idle.proxy.Drain(context.Background()); close(drained) }()
	if got := idle.rest(idle.client); bytes.Count(got, []byte("57P01")) != 1 {
		t.Fatalf("the idle client got %q; expected FATAL 57P01", got)
	}
	if got := idle.rest(idle.upstream); !bytes.Equal(got, message('X')) {
		t.Fatalf("upstream of the idle session got %q; expected Terminate", got)
	}
	late := idle.dial()
	defer late.Close()
	late.Write(startup("user", "u"))
	if got := idle.rest(late); !bytes.Contains(got, []byte("57P03")) {
		t.Fatalf("a new client got %q; expected FATAL 57P03", got)
	}
	busy.send(ourQuery) // inside its transaction it goes on, also from memory
	busy.toClient(ourRow, dataRow("1"), complete("SELECT 1"), ready('T'))
	busy.relays(query("COMMIT"), join(complete("COMMIT"), ready('I')))
	if got := busy.rest(busy.client); bytes.Count(got, []byte("57P01")) != 1 {
		t.Fatalf("the client got %q after its transaction; expected FATAL 57P01", got)
	}
	<-drained
}

func TestTheDrainTimeoutEndsEverySession(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(query("SELECT pg_sleep(1000)"))
	r.toUpstream(query("SELECT pg_sleep(1000)"))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	r.proxy.Drain(over)
	if got := r.rest(r.client); bytes.Count(got, []byte("57P01")) != 1 {
		t.Fatalf("the client got %q; expected FATAL 57P01", got)
	}
}

func TestTheLoginTimeoutEndsAClientThatNeverSaysWhatItWants(t *testing.T) {
	front := listen(t)
	p, got, _ := serveOne(t, front,
		Settings{
			Upstream: []Host{{Network: "tcp", Address: "127.0.0.1:1"}}, IDs: draw.New(&counter{}, nil),
			Rules: Rules{LoginTimeout: time.Millisecond},
		}, []byte{0, 0})
	if !bytes.Contains(got, []byte("08006")) {
		t.Fatalf("the client got %q; expected FATAL 08006", got)
	}
	front.Close()
	p.Wait()
}

func TestTheLoginTimeoutEndsASessionWhoseUpstreamNeverAnswers(t *testing.T) {
	back, front := listen(t), listen(t)
	p, got, _ := serveOne(t, front,
		Settings{
			Upstream: []Host{{Network: "tcp", Address: back.Addr().String()}}, IDs: draw.New(&counter{}, nil),
			Rules: Rules{LoginTimeout: 50 * time.Millisecond},
		},
		startup("user", "u"))
	if !bytes.Contains(got, []byte("08006")) || !bytes.Contains(got, []byte("login timeout")) {
		t.Fatalf("the client got %q; expected FATAL 08006", got)
	}
	front.Close()
	back.Close()
	p.Wait()
}

func TestBadSessionsLeaveNoDescriptors(t *testing.T) {
	r := newRig(t, &counter{})
	before := descriptors(t)
	for i := range 100 {
		c := r.dial()
		switch i % 5 {
		case 0:
			c.Write([]byte{0, 0})
		case 1:
			c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		case 2:
			c.Write(startup("user", "u"))
			(<-r.arrivals).Close()
		case 3:
			c.Write(startup("user", "u"))
			up := <-r.arrivals
			up.Write(join(authOK, ready('I')))
			c.Write([]byte{'Q', 0, 0, 0, 1})
			up.Close()
		}
		c.Close()
	}
	r.client.Close()
	r.upstream.Close()
	r.proxy.Wait()
	if after := descriptors(t); after > before {
		t.Fatalf("%d descriptors are open after 100 bad sessions; %d were before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

func TestTheConnectionAboveTheLimitGetsAFatalAndCancelRequestsStillPass(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 1 })
	r.upstream = r.starts(r.client)
	second := r.dial()
	defer second.Close()
	second.Write(startup("user", "u"))
	if got := r.rest(second); !bytes.Contains(got, []byte("53300")) ||
		!bytes.Contains(got, []byte("--max-connections")) {
		t.Fatalf("the second client got %q; expected FATAL 53300", got)
	}
	cancel := r.dial()
	defer cancel.Close()
	packet := []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
	cancel.Write(packet)
	up := <-r.arrivals
	r.expect(up, "upstream", [][]byte{packet})
	up.Close()
}

func TestSessionsThatBeginAtOnceDoNotReachUpstreamBeyondTheLimit(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(upstream net.Conn) // so that the first client gets no session
		want string
	}{
		"upstream hangs up":     {func(up net.Conn) { up.Close() }, "57P03"},
		"upstream has no TLS":   {func(up net.Conn) { up.Write([]byte{'N'}) }, "57P03"},
		"upstream speaks false": {func(up net.Conn) { up.Write([]byte{'?'}) }, "57P03"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
				s.MaxSessions, s.UpstreamTLS = 1, pgtls.Upstream{Mode: pgtls.Require}
			})
			r.send(startup("user", "u"))
			r.upstream = <-r.arrivals // asked for TLS: the session has not begun
			other := r.dial()
			defer other.Close()
			r.write(other, [][]byte{startup("user", "u")})
			if got := r.rest(other); !bytes.Contains(got, []byte("53300")) {
				t.Fatalf("the other client got %q; expected FATAL 53300", got)
			}
			if n := len(r.arrivals); n != 0 {
				t.Fatalf("upstream was connected to %d times more", n)
			}
			c.fail(r.upstream)
			if got := r.rest(r.client); !bytes.Contains(got, []byte(c.want)) {
				t.Fatalf("the first client got %q; expected FATAL %s", got, c.want)
			}
			r.client.Close()
			r.client = r.dial() // there is room again
			r.send(startup("user", "u"))
			(<-r.arrivals).Close()
		})
	}
}

func TestThePlaceOfASessionIsFreeWhenItHasEnded(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 1 })
	for range 3 {
		r.upstream = r.starts(r.client)
		r.client.Close()
		r.rest(r.upstream)
		r.upstream.Close()
		for r.proxy.Stats().Now > 0 {
			runtime.Gosched()
		}
		r.client = r.dial()
	}
}
