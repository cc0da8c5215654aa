package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/draw"
	"pgflurry/migrations"
	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/statement"
	"pgflurry/sqlfuncs"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.MainNoLeak(m) }

// stand is one database, and everything that leads to it.
type stand struct {
	t        testing.TB
	database string
	// the same content for PostgreSQL alone, so that neither locks nor notifications reach across
	twin    string
	twinURL string
	network string
	address string
	version int       // of the server, such as 150004
	direct  *sync.Map // PostgreSQL's transcripts, by what it got

	heardLocal *atomic.Int64 // local IDs that clients of the answering proxies read

	relaying  *house // forwards everything
	answering *house // always has IDs
	moody     *house // has IDs at one time and none at the next
	chopped   *house // has IDs; upstream's bytes come a few at a time
}

// house is a proxy with three doors: a socket, TLS on that socket, and pipes that keep each write apart.
type house struct {
	name  string
	proxy *proxy.Proxy
	dial  func() (net.Conn, error)
	tls   func() (net.Conn, error)
	pipe  func() (net.Conn, error)
	shut  func() // stops accepting
}

// newStand prints the seed of the moods. The seed repeats them if sessions come one after the other.
func newStand(t testing.TB, seed uint64) *stand {
	t.Helper()
	t.Logf("seed %d", seed)
	everyName := migrations.Settings{Functions: sqlfuncs.All} // also compares calls without a schema
	url, twin := server.MigratedWith(t, everyName), server.MigratedWith(t, everyName)
	addTags(t, url)
	addTags(t, twin)
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	st := &stand{t: t, database: config.Database, direct: &sync.Map{}, heardLocal: &atomic.Int64{}}
	st.network, st.address = pgconn.NetworkAddress(config.Host, config.Port)
	if config, err = pgconn.ParseConfig(twin); err != nil {
		t.Fatal(err)
	}
	st.twin, st.twinURL = config.Database, twin
	err = server.Connect(t, twin).QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int").
		Scan(&st.version)
	if err != nil {
		t.Fatal(err)
	}
	st.relaying = st.newHouse("relaying", st.address, 0, newSource(seed, false))
	st.answering = st.newHouse("answering", st.address, statement.AllNames, newSource(seed, false))
	st.moody = st.newHouse("moody", st.address, statement.AllNames, newSource(seed, true))
	chopper := newChopper(t, st.network, st.address)
	st.chopped = st.newHouse("chopped", chopper, statement.AllNames, newSource(seed, false))
	return st
}

// apart returns the same stand with another cache of PostgreSQL's transcripts.
func (st *stand) apart() *stand {
	other := *st
	other.direct = &sync.Map{}
	return &other
}

func (st *stand) dialDirect() (net.Conn, error) { return net.Dial(st.network, st.address) }

// newHouse starts a proxy. The test ends it.
func (st *stand) newHouse(name, upstream string, names statement.Names, ids *source) *house {
	st.t.Helper()
	network := st.network
	if upstream != st.address {
		network = "tcp"
	}
	ca := authority.New(st.t, "CA of the proxy")
	offer, err := pgtls.NewClient(ca.Issue(st.t, authority.Leaf{Hosts: []string{"proxy.test"}}).TLS, nil)
	if err != nil {
		st.t.Fatal(err)
	}
	trusts := &tls.Config{RootCAs: ca.Pool(), ServerName: "proxy.test", NextProtos: []string{"postgresql"}}
	p, err := proxy.New(proxy.Settings{
		Upstream: []proxy.Host{{Network: network, Address: upstream}}, IDs: draw.New(ids, nil),
		Rules:    proxy.Rules{ClientTLS: offer},
		Segments: func(string) proxy.Segments { return tags{ids} },
		Permission: func(database string) *statement.Permission {
			permission := &statement.Permission{}
			if database == st.database {
				permission.Set(names)
			}
			return permission
		},
	})
	if err != nil {
		st.t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		st.t.Fatal(err)
	}
	pipes := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	var serving sync.WaitGroup
	for _, listener := range []net.Listener{socket, pipes} {
		serving.Go(func() {
			if err := p.Serve(listener); err != nil {
				st.t.Errorf("%s: %v", name, err)
			}
		})
	}
	shut := sync.OnceFunc(func() {
		socket.Close()
		pipes.Close()
		serving.Wait()
	})
	st.t.Cleanup(func() {
		shut()
		p.Drain(context.Background())
		p.Wait()
	})
	return &house{
		name: name, proxy: p, pipe: pipes.Dial, shut: shut,
		dial: func() (net.Conn, error) { return net.Dial("tcp", socket.Addr().String()) },
		tls:  func() (net.Conn, error) { return tls.Dial("tcp", socket.Addr().String(), trusts) },
	}
}

// inside returns the same house, entered through TLS.
func (h *house) inside() *house {
	return &house{name: h.name + " inside TLS", proxy: h.proxy, dial: h.tls}
}

// source gives the local IDs, in runs of random length.
type source struct {
	moody bool

	mu   sync.Mutex
	dice *rand.Rand
	next int64
}

func newSource(seed uint64, moody bool) *source {
	return &source{moody: moody, dice: rand.New(rand.NewPCG(seed, 1)), next: firstLocalID}
}

var errNoMood = errors.New("no IDs just now")

func (s *source) TryNextN(n int) (first int64, count int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moody {
		switch s.dice.IntN(6) {
		case 0, 1:
			return 0, 0, errNoMood
		case 2:
			return 0, 0, nil
		}
	}
	return s.take(n)
}

func (s *source) NextN(_ context.Context, n int) (first int64, count int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moody && s.dice.IntN(4) == 0 {
		return 0, 0, errNoMood
	}
	return s.take(n)
}

func (s *source) take(n int) (first int64, count int, err error) {
	first, count = s.next, 1+s.dice.IntN(n)
	s.next += int64(count)
	return first, count, nil
}

// pipeListener accepts net.Pipe connections. The proxy reads exactly what the client writes at once.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// newChopper relays to upstream, and passes upstream's bytes back a few at a time.
func newChopper(t testing.TB, network, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial(network, address)
			if err != nil {
				client.Close()
				continue
			}
			relays.Go(func() {
				_, _ = io.Copy(upstream, client)
				upstream.(interface{ CloseWrite() error }).CloseWrite()
			})
			relays.Go(func() {
				chop(client, upstream)
				client.Close()
				upstream.Close()
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		relays.Wait()
	})
	return listener.Addr().String()
}

func chop(to io.Writer, from io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			crumb := min(len(rest), 1+rand.IntN(11))
			if _, err := to.Write(rest[:crumb]); err != nil {
				return
			}
			rest = rest[crumb:]
		}
		if err != nil {
			return
		}
	}
}
