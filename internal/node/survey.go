package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/internal/report"
)

// surveyName is the default application_name of the survey's connection.
const surveyName = "pgflurry serve, survey"

const (
	usualSurvey = 10 * time.Second // the pause between two readings
	leastSurvey = time.Second
)

// surveyPause is the pause between two readings of the worker table; 0: no reading.
func surveyPause(s config.Settings) time.Duration {
	switch {
	case s.Survey > 0:
		return max(s.Survey, leastSurvey)
	case s.Admin.Is() || s.IDDatabase.Name != "":
		return usualSurvey
	}
	return 0
}

// Every node reads the table. These limit the load of many nodes, a large table or a slow database. A survey rests at
// least for
const (
	restPerReading = 100                   // times the length of the last reading, and
	restPerNode    = 50 * time.Millisecond // times the number of held workers, but
	mostSurvey     = 5 * time.Minute       // no longer
	// After a failed reading its length only says how long the database was away. People wait for its return.
	mostAfterFailure = 30 * time.Second
)

// A survey reads the worker table again and again, for people. Nothing that a node does depends on it.
type survey struct {
	pause   time.Duration // between two readings, at least
	asker   *connect.Asker
	keeper  *lease.Keeper
	clock   clock
	role    string
	workers *atomic.Pointer[report.Workers] // what was read; must not be modified
}

func (u *supply) newSurvey(keeper *lease.Keeper) *survey {
	return &survey{
		pause:  surveyPause(u.settings),
		asker:  connect.NewAsker(u.there, askTimeout, u.rules.Named(surveyName)),
		keeper: keeper, clock: u.clock, role: u.lease.User, workers: &u.surveyed,
	}
}

// run reads until ctx ends: at once, again when the first worker is held, and then after each pause.
func (s *survey) run(ctx context.Context) {
	defer s.asker.Close()
	granted := s.keeper.Granted()
	for ctx.Err() == nil {
		began := s.clock.monotonic()
		s.read(ctx)
		if connect.Sleep(ctx, connect.About(s.rest(s.clock.monotonic()-began)), granted) {
			granted = nil
		}
	}
}

// rest is the pause after a reading of that length.
func (s *survey) rest(took time.Duration) time.Duration {
	nodes, most := 0, mostSurvey
	if read := s.workers.Load(); read != nil {
		nodes = read.Counts[workerHeld]
		if read.Problem != "" {
			most = mostAfterFailure
		}
	}
	return max(s.pause, min(restPerReading*took, most), min(time.Duration(nodes)*restPerNode, mostSurvey))
}

// read replaces the last result. After a failure it replaces only the problem.
func (s *survey) read(ctx context.Context) {
	next := &report.Workers{}
	err := s.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		listing, err := lease.List(ctx, conn, false)
		if err != nil {
			return err
		}
		ahead, err := lease.FunctionAhead(ctx, conn)
		if err != nil {
			return err
		}
		row, err := namespace.Read(ctx, conn)
		if err != nil {
			return err
		}
		_ = row.Noted(ctx, conn) // by the next reading, if not now
		*next = workersOf(listing, s.keeper.Stats())
		next.NewServer = row.NewServer
		next.Read, next.FunctionAhead = s.clock.wall(), ahead
		if listing.GateOpens > 0 {
			next.Opens = next.Read.Add(listing.GateOpens)
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		if last := s.workers.Load(); last != nil {
			*next = *last
		}
		next.Problem = s.problem(err)
	}
	s.workers.Store(next)
}

// problem says why the table could not be read, and what to do.
func (s *survey) problem(err error) string {
	text, advice := connect.OneLine(err), adviceFor(err, s.role)
	if advice == "" {
		return text
	}
	return text + ". " + advice
}

// workersOf are the rows of a listing, and the number of proxy workers in each state.
func workersOf(l lease.Listing, own lease.Stats) report.Workers {
	w := report.Workers{
		Rows:   make([]report.Worker, len(l.Rows)),
		Counts: map[string]int{workerHeld: 0, workerResting: 0, workerFree: l.NeverUsed, workerRetired: 0},
	}
	for i, r := range l.Rows {
		state := workerStates[r.State]
		if r.Kind == kindProxy {
			w.Counts[state]++
		}
		if state == workerHeld && own.Lease.Held && r.Worker == own.Lease.Worker && r.Term == own.Term {
			state = workerMine
		}
		left := r.Left
		if r.ReservedUntil != nil && *r.ReservedUntil == 0 {
			left = nil // it has no mark yet
		}
		w.Rows[i] = report.Worker{
			Number: r.Worker, State: state, Node: r.Node, Address: r.Address, Version: r.Version, Left: left,
			Term: r.Term, Acquired: when(r.AcquiredAt), Renewed: when(r.RenewedAt),
			Released: when(r.ReleasedAt), Retired: when(r.RetiredAt),
		}
	}
	return w
}

// kindProxy is the kind of a worker that is leased to proxies.
const kindProxy = "proxy"

// The words for the states of workers for operators.
const (
	workerMine     = "mine"
	workerHeld     = "held"
	workerResting  = "resting"
	workerFree     = "free"
	workerRetired  = "retired"
	workerFunction = "function"
	workerForeign  = "foreign"
)

// workerStates maps the state of a listing to them.
var workerStates = map[string]string{
	"held": workerHeld, "released": workerResting, "quarantined": workerResting, "free": workerFree,
	"never used": workerFree, "retired": workerRetired, "function": workerFunction,
	"foreign": workerForeign,
}
