package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
)

// primaries says which host is the primary, as the test wants.
type primaries struct {
	mu  sync.Mutex
	now Primary
	end context.CancelFunc
}

// promote makes another host the primary.
func (x *primaries) promote(host int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.end != nil {
		x.end()
	}
	var over context.Context
	over, x.end = context.WithCancel(context.Background())
	x.now = Primary{host, over}
}

func (x *primaries) primary(context.Context) (Primary, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.end == nil {
		return Primary{}, errors.New("nobody says so")
	}
	return x.now, nil
}

// withHosts puts other hosts behind the rig's own, which is the first.
func withHosts(x *primaries, others ...net.Listener) func(*Settings) {
	return func(s *Settings) {
		s.Primary = x.primary
		for _, other := range others {
			s.Upstream = append(s.Upstream, Host{Network: "tcp", Address: other.Addr().String()})
		}
	}
}

func TestInvariant12ASessionEndsWithItsPrimaryAndNothingMoreReachesThat(t *testing.T) {
	for name, meanwhile := range map[string]func(r *rig){
		"it is idle":                   func(*rig) {},
		"it waits for a reply":         func(r *rig) { r.send(query("SELECT 9")); r.toUpstream(query("SELECT 9")) },
		"it is in a transaction":       func(r *rig) { r.relays(query("BEGIN"), join(complete("BEGIN"), ready('T'))) },
		"half a message was sent":      func(r *rig) { r.send(query("SELECT 1")[:6]) },
		"it was answered a moment ago": func(r *rig) { r.requestAnswered("1", 'I') },
	} {
		t.Run(name, func(t *testing.T) {
			x := &primaries{}
			x.promote(0)
			r := newRigBeforeStartup(t, &counter{}, withHosts(x))
			r.upstream = r.starts(r.client)
			meanwhile(r)
			x.promote(0)
			r.toClient(fatalMessage(failDemoted))
			if rest := r.rest(r.upstream); bytes.Contains(rest, query("COMMIT")) {
				t.Errorf("upstream was sent %q", rest)
			}
			r.proxy.Wait()
			if n := r.proxy.Stats().Closed["demoted"]; n != 1 {
				t.Errorf("%d sessions were counted as demoted", n)
			}
		})
	}
}

func TestAClientWhoseServerIsDemotedDuringItsLoginIsToldToTryAgain(t *testing.T) {
	x := &primaries{}
	x.promote(0)
	r := newRigBeforeStartup(t, &counter{}, withHosts(x))
	r.send(startup("user", "u"))
	r.upstream = <-r.arrivals // it does not answer
	r.toUpstream(startup("user", "u"))
	x.promote(0)
	r.toClient(fatalMessage(failMoved))
}

// demotions is a log that says when a session ends with its primary.
type demotions chan struct{}

func (d demotions) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("not the primary any more")) {
		close(d)
	}
	return len(line), nil
}

func TestInvariant12NothingOfAClientThatDoesNotReadReachesAFormerPrimary(t *testing.T) {
	t.Parallel()
	x, demoted := &primaries{}, make(demotions)
	x.promote(0)
	r := newRigBeforeStartup(t, &counter{}, withHosts(x), func(s *Settings) {
		s.Log = slog.New(slog.NewTextHandler(demoted, nil))
	})
	r.upstream = r.starts(r.client)
	var full net.Error
	row := dataRow(string(bytes.Repeat([]byte("x"), 8000)))
	for full == nil { // until the proxy accepts no more, because its client reads nothing
		_ = r.upstream.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := r.upstream.Write(row); err != nil && !errors.As(err, &full) {
			t.Fatal(err)
		}
	}
	x.promote(0)
	<-demoted
	r.send(query("COMMIT"))
	if rest := r.rest(r.upstream); bytes.Contains(rest, query("COMMIT")) {
		t.Errorf("behind the end upstream was sent %q", rest)
	}
	r.proxy.Wait()
}

func TestWithoutAPrimaryASessionIsRefused(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, withHosts(&primaries{}))
	r.send(startup("user", "u"))
	r.toClient(fatalMessage(failNoPrimary))
}

func TestADialWhosePrimaryChangesGoesOnToTheNext(t *testing.T) {
	ca := authority.New(t, "CA")
	silent := listen(t) // accepts connections, and never answers the request for TLS
	x := &primaries{}
	x.promote(1)
	r := newRigBeforeStartup(t, &counter{}, withHosts(x, silent), reaches(pgtls.Upstream{Mode: pgtls.Require}))
	r.send(startup("user", "u", "database", "d"))
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	x.promote(0)
	if err := r.takesTLS(shows(ca.Issue(t, authority.Leaf{}))); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(startup("user", "u", "database", "d"))
}

func TestAHostThatHangsHasItsShareOfTheTimeAndNoMore(t *testing.T) {
	t.Parallel()
	ca := authority.New(t, "CA")
	silent := listen(t)
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}), func(s *Settings) {
		s.Upstream = append([]Host{{Network: "tcp", Address: silent.Addr().String()}}, s.Upstream...)
		s.DialTimeout = 8 * time.Second // the other host has half of it
	})
	r.send(startup("user", "u", "database", "d"))
	if err := r.takesTLS(shows(ca.Issue(t, authority.Leaf{}))); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(startup("user", "u", "database", "d"))
}

func TestAConnectionOfTheProxysOwnEndsWithItsPrimary(t *testing.T) {
	x := &primaries{}
	x.promote(0)
	r := newRigBeforeStartup(t, &counter{}, withHosts(x))
	conn, err := r.proxy.DialUpstream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := <-r.arrivals
	x.promote(0)
	if _, err := io.ReadAll(there); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write behind the end: %v", err)
	}
	conn.Close()
}

func TestACancelRequestGoesToTheHostOfItsSessionWhateverTheLengthOfTheKey(t *testing.T) {
	for name, key := range map[string][]byte{
		"a key of protocol 3.0": bytes.Repeat([]byte{1}, 8),
		"a key of protocol 3.2": bytes.Repeat([]byte{2}, 260),
	} {
		t.Run(name, func(t *testing.T) {
			other := listen(t)
			x := &primaries{}
			x.promote(0)
			r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
				withHosts(x, other)(s)
				s.Primary = func(ctx context.Context) (Primary, error) { // sessions stay when others go elsewhere
					primary, err := x.primary(ctx)
					return Primary{primary.Host, context.Background()}, err
				}
			})
			r.send(startup("user", "u"))
			r.upstream = <-r.arrivals
			r.toUpstream(startup("user", "u"))
			greeting := join(message('R', []byte{0, 0, 0, 0}), message('K', key), ready('I'))
			r.reply(greeting)
			r.toClient(greeting)
			x.promote(1)

			request := join([]byte{0, 0, byte((8 + len(key)) >> 8), byte(8 + len(key)), 4, 210, 22, 46}, key)
			cancel := r.dial()
			r.write(cancel, [][]byte{request})
			there := <-r.arrivals // and not at the other host
			r.expect(there, "the host of the session", [][]byte{request})
			there.Close()

			nobodys := bytes.Clone(request)
			nobodys[len(nobodys)-1]++
			r.write(r.dial(), [][]byte{nobodys})
			conn, err := other.Accept()
			if err != nil {
				t.Fatal(err)
			}
			r.expect(conn, "where new sessions go", [][]byte{nobodys})
			conn.Close()

			r.client.Close()
			r.upstream.Close()
			r.proxy.Wait()
			if _, found := r.proxy.registry.OfKey(string(key)); found {
				t.Error("its key is left behind the session")
			}
		})
	}
}
