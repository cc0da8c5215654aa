package admin

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"pgflurry/internal/report"
)

// Settings of a Server.
type Settings struct {
	// Node is the source of everything that the server shows. Required.
	Node Node
	// Name is the host's, as the operator gives it for a loopback address. Empty: localhost or an IP address.
	Name string
	// Log gets errors of requests. Nil: no log.
	Log *slog.Logger
	// Pprof adds Go's profiles of the process below /debug/pprof/.
	Pprof bool
}

// limits bound the cost of one client of the server.
type limits struct {
	connections int           // open at once; a further one closes the oldest
	header      time.Duration // to read a request's header
	request     time.Duration // to read all of a request
	answer      time.Duration // to write an answer; profiles add their own length
	idle        time.Duration // between two requests of one connection
	headerBytes int
}

// idle is longer than Prometheus' usual scrape interval, so that its connection stays open.
var usualLimits = limits{
	connections: 64, header: 5 * time.Second, request: 5 * time.Second, answer: 10 * time.Second,
	idle: 2 * time.Minute, headerBytes: 16 << 10,
}

// stateEvery is the shortest time between two States. With 10,000 sessions one takes milliseconds.
const stateEvery = 10 * time.Millisecond

// farewell is how long open requests may take at the end.
const farewell = 250 * time.Millisecond

// A Server serves operators. Make it with New.
type Server struct {
	state   *report.Recent[report.State] // of the node, for all who ask
	log     *slog.Logger
	limits  limits
	handler http.Handler
	name    string
	page    *page
	pace    *pace // of all requests except probes
}

// New makes a server. It opens nothing and starts nothing.
func New(s Settings) *Server {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	state := report.NewRecent(stateEvery, s.Node.State)
	server := &Server{
		name: s.Name, state: state, log: s.Log, limits: usualLimits, page: newPage(s.Node, state), pace: newPace(),
	}
	mux, others := http.NewServeMux(), http.NewServeMux()
	server.probes(mux)
	mux.Handle("/", server.pace.paced(others))
	server.metrics(others)
	server.page.register(others)
	if s.Pprof {
		profiles(others)
	}
	server.handler = readOnly(mux)
	return server
}

// profiles registers Go's profiles, without the command line: that may hold a password.
func profiles(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
}

// readOnly passes on GET and HEAD, and refuses all else.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this listener changes nothing: expected GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Serve serves requests on listener until ctx ends, and closes the listener. At the end it gives open requests a
// moment. When it returns, no request is running. An error says why it had to end before ctx.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var connections sync.WaitGroup
	server := &http.Server{
		Handler:           forLoopback(listener.Addr(), s.name, s.handler),
		ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.request,
		WriteTimeout: s.limits.answer, IdleTimeout: s.limits.idle, MaxHeaderBytes: s.limits.headerBytes,
		BaseContext: func(net.Listener) context.Context { return asking },
		ConnContext: withConnection,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				connections.Add(1)
			case http.StateClosed, http.StateHijacked:
				connections.Done()
			}
		},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // debug only: clients can fill it
	}
	var watching sync.WaitGroup
	watching.Go(func() { s.page.watch(asking) })
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(newDropOldest(listener, s.limits.connections)) }()

	var err error
	select {
	case <-ctx.Done():
		s.end(server, cancel)
		<-ended
	case err = <-ended:
		s.end(server, cancel)
	}
	connections.Wait()
	cancel()
	watching.Wait()
	return err
}

// end closes the listener and all connections. Those with an open request get a moment.
func (s *Server) end(server *http.Server, cancel context.CancelFunc) {
	moment, stop := context.WithTimeout(context.Background(), farewell)
	defer stop()
	if server.Shutdown(moment) != nil {
		cancel() // handlers stop waiting for a database
		server.Close()
	}
}
