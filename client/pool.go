package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Pool gives IDs that it draws ahead. Make it with New; it needs no end. Safe for concurrent use.
type Pool struct {
	source   Source
	settings Settings
	now      func() reading

	mu      sync.Mutex
	ids     []int64    // the rest of the last draw, in its order; empty while anybody waits
	waiting []*request // in the order in which they came
	drawing bool
	began   reading // when the draw began that gave ids
	batch   batch
}

// request is a call that waits.
type request struct {
	ctx  context.Context // its values go with the draw that it begins
	want int
	ids  []int64       // what it has got
	err  error         // why it gets no more
	done chan struct{} // closed when it leaves waiting but for its own context
}

// New makes an empty pool. The first call draws.
func New(source Source, settings Settings) (*Pool, error) {
	if source == nil {
		return nil, errors.New("the source of a client.Pool is nil; expected Pgx(pool), SQL(db) or one of your own")
	}
	settings, err := settings.filled()
	if err != nil {
		return nil, err
	}
	return &Pool{source: source, settings: settings, now: clock(), batch: batch{size: 1}}, nil
}

// Next gives an ID. It waits where none is left, at most until ctx ends.
func (p *Pool) Next(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, left(ctx, 1)
	}
	p.mu.Lock()
	p.throwAway()
	if len(p.ids) > 0 {
		id := p.ids[0]
		p.ids = p.ids[1:]
		p.mu.Unlock()
		return id, nil
	}
	r := p.ask(ctx, 1)
	p.mu.Unlock()
	ids, err := p.await(r)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// NextN gives n IDs in rising order. More than MaxDraw take several draws, and others wait meanwhile. If ctx ends, or a
// draw fails, those that were drawn for it already are lost.
func (p *Pool) NextN(ctx context.Context, n int) ([]int64, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d IDs were asked for; expected at least 1", n)
	}
	if err := ctx.Err(); err != nil {
		return nil, left(ctx, n)
	}
	p.mu.Lock()
	p.throwAway()
	r := p.ask(ctx, n)
	p.mu.Unlock()
	ids, err := p.await(r)
	if err == nil && !slices.IsSorted(ids) { // of several draws, over several proxies
		slices.Sort(ids)
	}
	return ids, err
}

// throwAway empties the pool of IDs that are too old. The caller holds mu, as with all that follows here.
func (p *Pool) throwAway() {
	if len(p.ids) > 0 && p.now().since(p.began) > p.settings.MaxAge {
		p.batch.thrown(len(p.ids))
		p.ids = nil
	}
}

// ask takes what there is, and waits in line for the rest.
func (p *Pool) ask(ctx context.Context, n int) *request {
	r := &request{ctx: ctx, want: n, done: make(chan struct{})}
	p.waiting = append(p.waiting, r)
	p.serve()
	if len(p.waiting) > 0 && !p.drawing {
		p.begin()
	}
	return r
}

// serve gives the IDs there are to those who wait.
func (p *Pool) serve() {
	served := 0
	for len(p.ids) > 0 && served < len(p.waiting) {
		r := p.waiting[served]
		n := min(r.want-len(r.ids), len(p.ids))
		r.ids = append(r.ids, p.ids[:n]...)
		p.ids = p.ids[n:]
		if len(r.ids) == r.want {
			close(r.done)
			served++
		}
	}
	p.waiting = slices.Delete(p.waiting, 0, served)
}

// fail sends those who wait away.
func (p *Pool) fail(err error) {
	for _, r := range p.waiting {
		r.ids, r.err = nil, err
		close(r.done)
	}
	p.waiting = nil
}

// await is called without mu. It waits for a request, at most until its context ends.
func (p *Pool) await(r *request) ([]int64, error) {
	select {
	case <-r.done:
	case <-r.ctx.Done():
		if p.leave(r) {
			return nil, left(r.ctx, r.want)
		}
		// a draw was quicker, and what it gave would be lost
	}
	return r.ids, r.err
}

// leave is called without mu. It takes a request out of the line, and reports whether it was still there.
func (p *Pool) leave(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting, r)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	return i >= 0
}

// left is the error of a caller whose context ended.
func left(ctx context.Context, n int) error {
	return fmt.Errorf("waiting for %s ended before they were drawn: %w", counted(n), ctx.Err())
}

func counted(n int) string {
	if n == 1 {
		return "1 ID"
	}
	return fmt.Sprintf("%d IDs", n)
}
