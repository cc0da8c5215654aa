package client

import (
	"context"
	"errors"
	"fmt"
)

// begin starts a draw for the waiting calls. There must be at least one. The caller holds mu.
func (p *Pool) begin() {
	wanted := 0
	for _, r := range p.waiting {
		wanted += r.want - len(r.ids)
	}
	now := p.now()
	n := max(roundUp(wanted, MaxDraw), p.batch.next(now, p.settings))
	p.drawing = true
	go p.draw(context.WithoutCancel(p.waiting[0].ctx), n, now)
}

// draw runs one draw. It is the whole life of its goroutine.
func (p *Pool) draw(ctx context.Context, n int, began reading) {
	err := errors.New("the source of a client.Pool ended its goroutine")
	var ids []int64
	defer func() { p.land(ids, err, began) }() // no call waits for ever, even if the source panics
	ids, err = p.try(ctx, n)
}

// try asks the source, and a second time if the first attempt fails within the timeout.
func (p *Pool) try(ctx context.Context, n int) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.settings.Timeout)
	defer cancel()
	ids, err := p.source(ctx, n)
	if err != nil && ctx.Err() == nil {
		ids, err = p.source(ctx, n)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("drawing %s took longer than %v (Settings.Timeout): %w",
			counted(n), p.settings.Timeout, err)
	case err != nil:
		return nil, fmt.Errorf("drawing %s failed twice: %w%s", counted(n), err, advice(err))
	case len(ids) != n:
		return nil, fmt.Errorf("the source of a client.Pool gave %s; expected %d", counted(len(ids)), n)
	}
	return ids, nil
}

// advice adds what to do if PostgreSQL's own words do not say it.
func advice(err error) string {
	var refused interface{ SQLState() string } // of pgx and lib/pq alike
	if errors.As(err, &refused) && refused.SQLState() == "42883" {
		return "; \"pgflurry migrate up\" makes the function, and search_path must have its schema"
	}
	return ""
}

// land ends a draw: it serves the waiting calls, or fails them.
func (p *Pool) land(ids []int64, err error, began reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawing = false
	if err != nil {
		p.batch.failed()
		p.fail(err)
		return
	}
	p.batch.landed(len(ids), p.now())
	p.ids, p.began = ids, began
	p.serve()
	if len(p.waiting) > 0 {
		p.begin()
	}
}
