package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"pgflurry/config"
	"pgflurry/connstring"
	"pgflurry/fresh"
	"pgflurry/generator"
	"pgflurry/lease"
	"pgflurry/namespace"
	"pgflurry/outcome"
	"pgflurry/report"
)

// A supply gives the generator its grants. It knows all that there is to know of namespace and lease.
type supply struct {
	settings  config.Settings
	address   func() string   // of this node, for the worker table
	lease     *pgx.ConnConfig // the lease role at the lease database
	rules     *fresh.Rules    // of the connections
	clock     clock
	log       *slog.Logger
	judged    <-chan struct{} // closed once all databases were judged
	answering chan struct{}   // closed once a worker was leased, too

	ids      lateIDs
	known    atomic.Pointer[known]
	unread   atomic.Pointer[trouble] // why the namespace is not known
	surveyed atomic.Pointer[report.Workers]
	asking   sync.Mutex // held by the one question for a history
}

// known is what a node has after it has read its namespace.
type known struct {
	namespace namespace.Namespace
	keeper    *lease.Keeper
}

// run finds the namespace, makes its generator, and keeps it supplied with grants until ctx ends. A look at the
// databases runs beside it. An error means that the configuration is wrong. Faults that may pass are waited for.
func (u *supply) run(ctx context.Context, look func(context.Context, namespace.Namespace) error) error {
	ns, err := u.findNamespace(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	g, keeper, err := u.newGenerator(ns)
	if err != nil {
		return err
	}
	u.ids.generator.Store(g)
	u.known.Store(&known{namespace: ns, keeper: keeper})

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	wrong := make(chan error, 1)
	beside.Go(func() {
		if err := look(ctx, ns); err != nil {
			wrong <- err
			stop()
		}
	})
	beside.Go(func() {
		for _, ready := range []<-chan struct{}{keeper.Granted(), u.judged} {
			select {
			case <-ready:
			case <-ctx.Done():
				return
			}
		}
		close(u.answering)
	})
	if surveyPause(u.settings) > 0 {
		beside.Go(func() { u.newSurvey(keeper).run(ctx) })
	}
	err = keeper.Run(ctx)
	select {
	case mismatch := <-wrong:
		return mismatch
	default:
		return err
	}
}

// newGenerator makes the generator of a namespace and the keeper that supplies it.
func (u *supply) newGenerator(ns namespace.Namespace) (*generator.Generator, *lease.Keeper, error) {
	clock := u.clock.ids(ns.Layout.Unit)
	g, err := generator.New(generator.Settings{Layout: ns.Layout, Now: clock.Now})
	if err != nil {
		return nil, nil, err
	}
	workers, err := u.workers(ns)
	if err != nil {
		return nil, nil, outcome.As(outcome.Usage, err)
	}
	rules := u.rules.Named("lease")
	// A renewal comes every 20 s. At half the age each goes over a new connection, and none trusts one for 40 s.
	rules.Urgent, rules.Age = true, rules.Age/2
	keeper, err := lease.NewKeeper(lease.Settings{
		Namespace: ns.ID, Store: lease.NewPostgres(&u.lease.Config, rules), Issuer: g, Clock: clock,
		Node: u.settings.Name, Address: u.address(), Version: u.settings.Version, Range: workers,
		Window: u.settings.Window, Suspicion: rules.Suspicion, Log: u.log, Explain: connstring.Explain,
	})
	return g, keeper, err
}

// there is how the lease role reaches the lease database.
func (u *supply) there() *pgx.ConnConfig { return u.lease }
