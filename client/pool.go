package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Pool gives IDs that it draws ahead. Make it with New; there is nothing to close. It is safe for concurrent use.
type Pool struct {
	source   Source
	settings Settings
	now      func() reading

	mu      sync.Mutex
	ids     []int64    // the rest of the last draw, in its order; empty while any call waits
	waiting []*request // in the order in which they came
	drawing bool
	began   reading // when the draw of ids began
	batch   batch
}

// request is a call that waits.
type request struct {
	ctx  context.Context // the draw that it begins gets its values
	want int
	ids  []int64       // the IDs that it has so far
	err  error         // why it gets no more
	done chan struct{} // closed when it leaves waiting, unless its own context ended
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

// Next gives an ID. If none is left, it waits, at most until ctx ends.
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

// NextN gives n IDs in rising order. More than MaxDraw take several draws, and other calls wait meanwhile. If ctx ends,
// or a draw fails, the IDs that were already drawn for the call are lost.
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
	if err == nil && !slices.IsSorted(ids) { // the IDs of several draws over several proxies
		slices.Sort(ids)
	}
	return ids, err
}

// throwAway drops IDs that are too old. The caller holds mu, here and in the functions below.
func (p *Pool) throwAway() {
	if len(p.ids) > 0 && p.now().since(p.began) > p.settings.MaxAge {
		p.batch.thrown(len(p.ids))
		p.ids = nil
	}
}

// ask takes the IDs in the pool, and waits in line for the rest.
func (p *Pool) ask(ctx context.Context, n int) *request {
	r := &request{ctx: ctx, want: n, done: make(chan struct{})}
	p.waiting = append(p.waiting, r)
	p.serve()
	if len(p.waiting) > 0 && !p.drawing {
		p.begin()
	}
	return r
}

// serve gives the IDs in the pool to the waiting calls.
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

// fail ends all waiting calls with an error.
func (p *Pool) fail(err error) {
	for _, r := range p.waiting {
		r.ids, r.err = nil, err
		close(r.done)
	}
	p.waiting = nil
}

// await waits for a request, at most until its context ends. The caller must not hold mu.
func (p *Pool) await(r *request) ([]int64, error) {
	select {
	case <-r.done:
	case <-r.ctx.Done():
		if p.leave(r) {
			return nil, left(r.ctx, r.want)
		}
		// a draw was faster: return its IDs, which would be lost otherwise
	}
	return r.ids, r.err
}

// leave takes a request out of the line, and reports whether it was still there. The caller must not hold mu.
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
