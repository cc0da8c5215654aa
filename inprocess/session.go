package inprocess

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"pgflurry/generator"
	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
)

// A session is one life of the lease: from Open or Resume to Suspend or Close.
type session struct {
	generator *generator.Generator
	keeper    *lease.Keeper
	layout    generator.Layout
	stop      context.CancelFunc
	done      chan struct{}          // closed when the worker is given back and nothing runs any more
	failed    atomic.Pointer[failed] // nil: the last attempt was acknowledged
}

type failed struct{ error }

// errEnded wraps the error with which a keeper ends for good.
var errEnded = errors.New("the lease has ended for good")

// begin starts a session of a namespace.
func (g *Generator) begin(ctx context.Context, ns namespace.Namespace) (*session, error) {
	s := &session{layout: ns.Layout, done: make(chan struct{})}
	settings := g.settings
	wrap := settings.Wrap
	settings.Wrap = func(store lease.Store, issuer lease.Issuer) (lease.Store, lease.Issuer) {
		if wrap != nil { // of a test
			store, issuer = wrap(store, issuer)
		}
		return &heard{store, s, &g.news}, &notifying{issuer, &g.news}
	}
	var err error
	if s.generator, s.keeper, err = settings.New(ns); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	at := &state{session: s}
	g.state.Store(at)
	go func() {
		defer close(s.done)
		defer s.stop()
		err := s.keeper.Run(ctx)
		if err != nil {
			g.state.CompareAndSwap(at, &state{why: fmt.Errorf("%w: %w", errEnded, err)})
			g.news.notify()
		}
	}()
	return s, nil
}

// reason turns an error of the generator into that of a call, which says why there is no grant.
func (s *session) reason(err error) error {
	why := s.failed.Load()
	switch {
	case errors.Is(err, generator.ErrNoGrant), errors.Is(err, generator.ErrGrantEnded):
		if why != nil {
			err = why.error
		}
	case !errors.Is(err, generator.ErrSealed): // which another state follows at once
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoGrant, err)
}

// heard is a Store whose failures are remembered. It notifies if no wait helps.
type heard struct {
	lease.Store
	session *session
	news    *news
}

func (h *heard) Acquire(ctx context.Context, r lease.Request) (lease.Acquired, error) {
	a, err := h.Store.Acquire(ctx, r)
	h.hear(err)
	return a, err
}

func (h *heard) Renew(ctx context.Context, r lease.Renewal) (lease.Renewed, error) {
	answer, err := h.Store.Renew(ctx, r)
	h.hear(err)
	return answer, err
}

func (h *heard) hear(err error) {
	if err == nil {
		h.session.failed.Store(nil)
		return
	}
	h.session.failed.Store(&failed{connect.Explain(err)})
	if !passes(err) {
		h.news.notify()
	}
}

// notifying is an Issuer that notifies of each grant.
type notifying struct {
	lease.Issuer
	news *news
}

func (t *notifying) Grant(worker int, from, until int64) error {
	err := t.Issuer.Grant(worker, from, until)
	t.news.notify()
	return err
}
