package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
	"pgflurry/internal/draw"
	"pgflurry/internal/lease"
	"pgflurry/internal/lease/holder"
	"pgflurry/internal/namespace"
	"pgflurry/internal/report"
)

// A supply gives the generator its grants. It knows all that there is to know of namespace and lease.
type supply struct {
	settings config.Settings
	address  func() string   // of this node, for the worker table
	lease    *pgx.ConnConfig // the lease role at the lease database
	rules    *connect.Rules  // of the connections
	clock    clock
	log      *slog.Logger
	judged   func() <-chan struct{} // closed once all databases were judged

	queue    *draw.Queue // gets the generator as soon as the namespace is known, and with it the layout
	known    atomic.Pointer[known]
	unread   atomic.Pointer[trouble] // why the namespace was not read yet; nil: it was
	surveyed atomic.Pointer[report.Workers]
	asking   sync.Mutex // held by the one question for a history
}

// known is what a node has after it has read its namespace.
type known struct {
	namespace namespace.Namespace
	keeper    *lease.Keeper
}

// run finds the namespace, makes its generator, and keeps it supplied with grants until ctx ends. A look at the
// databases runs beside it. answering is closed once both give answers from memory. An error
// means that the configuration is wrong. Faults that may pass are waited for.
func (u *supply) run(
	ctx context.Context, answering chan struct{}, look func(context.Context, namespace.Namespace) error,
) error {
	u.unread.Store(&namespaceUnread)
	own := u.holder()
	ns, err := own.Find(ctx, func(err error) error {
		u.unread.Store(unreadFor(err))
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	g, keeper, err := own.New(ns)
	if err != nil {
		return err
	}
	u.queue.Supply(g, g.Has)
	u.known.Store(&known{namespace: ns, keeper: keeper})
	u.unread.Store(nil)

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
		for _, ready := range []<-chan struct{}{keeper.Granted(), u.judged()} {
			select {
			case <-ready:
			case <-ctx.Done():
				return
			}
		}
		close(answering)
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

// holder are the settings of the node's generator and keeper.
func (u *supply) holder() holder.Settings {
	return holder.Settings{
		Lease: u.lease, Node: u.settings.Name, Address: u.address(), Version: u.settings.Version,
		Window: u.settings.Window, Datacenter: u.settings.Datacenter,
		Rules: *u.rules, Clock: u.clock.ids, Wall: u.clock.wall, Log: u.log,
		Flag: "--", Without: "go to PostgreSQL",
	}
}

// there is how the lease role reaches the lease database.
func (u *supply) there() *pgx.ConnConfig { return u.lease }

// held returns the worker that the node holds, if it holds one.
func (u *supply) held() (worker int, held bool) {
	known := u.known.Load()
	if known == nil {
		return 0, false
	}
	l := known.keeper.Stats().Lease
	return l.Worker, l.Held
}
