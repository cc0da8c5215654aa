package inprocess

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/lease/holder"
	"pgflurry/internal/namespace"
)

// leaveLimit is how long Close waits if its context has ended before. The keeper needs no longer than that.
const leaveLimit = 6 * time.Second

// Resume leases a worker again after Suspend. It waits for a grant until ctx ends. If it fails, nothing is left, and
// the generator stays suspended. To clean up, it may take five seconds longer. If nothing is suspended, it does
// nothing. A Close ends it.
func (g *Generator) Resume(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.closing, cancel)()
	unlock, err := g.lock(ctx)
	switch {
	case err != nil && g.closing.Err() != nil:
		return ErrClosed
	case err != nil:
		return err
	}
	defer unlock()
	switch at := g.state.Load(); {
	case at.session != nil:
		return nil
	case at.why == ErrClosed:
		return ErrClosed
	}
	err = g.resume(ctx)
	if err != nil && g.closing.Err() != nil {
		g.leave(ErrClosed)
		return ErrClosed
	}
	return err
}

func (g *Generator) resume(ctx context.Context) error {
	if err := g.left(ctx); err != nil {
		return err
	}
	ns, err := g.find(ctx)
	if err != nil {
		return err
	}
	s, err := g.begin(ctx, ns)
	if err != nil {
		return err
	}
	if err := g.granted(ctx, s); err != nil {
		g.leave(ErrSuspended)
		<-s.done
		return err
	}
	g.namespace = ns.ID
	return nil
}

// find reads the namespace. It waits while a fault may pass, until ctx ends.
func (g *Generator) find(ctx context.Context) (namespace.Namespace, error) {
	var last error
	ns, err := g.settings.Find(ctx, func(err error) error {
		last = connect.Explain(err)
		if copied := new(holder.CopyError); errors.As(err, &copied) {
			return err
		}
		return nil
	})
	switch {
	case err != nil && last != nil && ctx.Err() != nil:
		return ns, fmt.Errorf("reading the namespace: %w: %w", err, last)
	case err != nil:
		return ns, fmt.Errorf("reading the namespace: %w", err)
	case g.namespace != "" && ns.ID != g.namespace:
		return ns, fmt.Errorf("%w: it was %s and is %s; check the URL of the lease database",
			lease.ErrNamespaceMismatch, g.namespace, ns.ID)
	}
	return ns, nil
}

// granted waits for the first grant of a session.
func (g *Generator) granted(ctx context.Context, s *session) error {
	for {
		news := g.news.next()
		select {
		case <-s.keeper.Granted():
			return nil
		default:
		}
		if why := g.why(); !passes(why) || ctx.Err() != nil {
			return ended(ctx, why)
		}
		select {
		case <-s.keeper.Granted(): // shortly after the news of it
			return nil
		case <-news:
		case <-ctx.Done():
		}
	}
}

// Suspend ends the grant and gives the worker back, for a snapshot of the process's memory. When it has returned nil,
// no ID of the former grant is given any more, and no connection is open. Until Resume, Next waits and TryNext fails.
//
// If the database is away, Suspend returns nil after a few seconds: there are no IDs, and the worker rests. If ctx ends
// before, call Suspend again, and take no snapshot.
func (g *Generator) Suspend(ctx context.Context) error { return g.end(ctx, ErrSuspended) }

// Close ends the generator for good. It seals, then it gives the worker back. Draws that come later get ErrClosed.
// Close waits until the worker is given back, at most until ctx ends. If ctx has ended before, it waits for up to six
// seconds, which is always enough. What still runs then ends by itself. Close again does the same again.
func (g *Generator) Close(ctx context.Context) error {
	g.close()
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), leaveLimit)
		defer cancel()
	}
	return g.end(ctx, ErrClosed)
}

func (g *Generator) end(ctx context.Context, why error) error {
	unlock, err := g.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if g.state.Load().why != ErrClosed {
		g.leave(why)
	}
	return g.left(ctx)
}

// lock waits until nobody else changes the state.
func (g *Generator) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case g.changing <- struct{}{}:
		return func() { <-g.changing }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another Suspend, Resume or Close: %w", ctx.Err())
	}
}

// leave ends the session, if there is one, and puts why in its place.
func (g *Generator) leave(why error) {
	if s := g.state.Swap(&state{why: why}).session; s != nil {
		g.leaving = s.done
		s.stop()
	}
	g.news.notify()
}

// left waits until nothing of the last session is left.
func (g *Generator) left(ctx context.Context) error {
	select {
	case <-g.leaving:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("giving the worker back: %w", ctx.Err())
	}
}
