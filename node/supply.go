package node

import (
	"context"
	"sync"

	"pgflurry/connstring"
	"pgflurry/generator"
	"pgflurry/lease"
	"pgflurry/namespace"
	"pgflurry/outcome"
	"pgflurry/watch"
)

// supply finds the namespace, makes its generator, and keeps it supplied with grants until ctx ends. A watch over the
// databases runs beside it. An error means that the configuration is wrong. Faults that may pass are waited for.
func (n *Node) supply(ctx context.Context) error {
	ns, err := n.findNamespace(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	g, keeper, err := n.newGenerator(ns)
	if err != nil {
		return err
	}
	n.ids.generator.Store(g)
	n.known.Store(&known{namespace: ns, keeper: keeper})

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	wrong := make(chan error, 1)
	look := watch.New(watch.Settings{
		Databases: n.databases, Config: n.look, Namespace: ns.ID, Server: n.realServer(), Rules: n.rules,
		Wall: n.clock.wall, Look: n.pause, Timeout: askTimeout,
	})
	beside.Go(func() {
		if err := look.Run(ctx); err != nil {
			wrong <- err
			stop()
		}
	})
	beside.Go(func() {
		for _, ready := range []<-chan struct{}{keeper.Granted(), n.databases.Judged()} {
			select {
			case <-ready:
			case <-ctx.Done():
				return
			}
		}
		close(n.answering)
	})
	beside.Go(func() { n.passOn(ctx, keeper) })
	if surveyPause(n.settings) > 0 {
		beside.Go(func() { n.newSurvey(keeper).run(ctx) })
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
func (n *Node) newGenerator(ns namespace.Namespace) (*generator.Generator, *lease.Keeper, error) {
	clock := n.clock.ids(ns.Layout.Unit)
	g, err := generator.New(generator.Settings{Layout: ns.Layout, Now: clock.Now})
	if err != nil {
		return nil, nil, err
	}
	workers, err := n.workers(ns)
	if err != nil {
		return nil, nil, outcome.As(outcome.Usage, err)
	}
	s := n.settings
	rules := n.rules.Named("lease")
	// A renewal comes every 20 s. At half the age each goes over a new connection, and none trusts one for 40 s.
	rules.Urgent, rules.Age = true, rules.Age/2
	keeper, err := lease.NewKeeper(lease.Settings{
		Namespace: ns.ID, Store: lease.NewPostgres(&n.lease.Config, rules), Issuer: g, Clock: clock,
		Node: s.Name, Address: n.address(), Version: s.Version, Range: workers, Window: s.Window, Log: n.log,
		Explain: connstring.Explain,
	})
	return g, keeper, err
}
