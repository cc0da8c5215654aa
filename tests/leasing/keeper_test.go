package leasing

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/tests/support/server"
)

// A process is a small one: keeper, clock and generator, joined as serve joins them.
type process struct {
	keeper    *lease.Keeper
	generator *generator.Generator
	stop      context.CancelFunc
	ended     chan error
	released  bool // the release reaches the database; a killed process has none
}

// holderStore is a store that can withhold the release, as a killed process does.
type holderStore struct {
	*lease.Postgres
	h *process
}

func (s holderStore) Release(ctx context.Context, l lease.Lease, acknowledged int64) error {
	if !s.h.released {
		return errors.New("killed")
	}
	return s.Postgres.Release(ctx, l, acknowledged)
}

func (r *room) hold(node, layout string) *process {
	r.t.Helper()
	parsed, err := generator.ParseLayout(layout)
	if err != nil {
		r.t.Fatal(err)
	}
	clock := lease.NewClock(time.Millisecond)
	h := &process{ended: make(chan error, 1), released: true}
	if h.generator, err = generator.New(generator.Settings{Layout: parsed, Now: clock.Now}); err != nil {
		r.t.Fatal(err)
	}
	h.keeper, err = lease.NewKeeper(lease.Settings{
		Namespace: r.namespace, Store: holderStore{r.store(r.url), h}, Issuer: h.generator, Clock: clock,
		Node: node, Window: time.Second, FirstWindow: 500 * time.Millisecond,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	go func() { h.ended <- h.keeper.Run(ctx) }()
	r.t.Cleanup(h.stop)
	return h
}

func (h *process) granted(t *testing.T) {
	t.Helper()
	select {
	case <-h.keeper.Granted():
	case err := <-h.ended:
		t.Fatalf("Run ended: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("no grant")
	}
}

func (h *process) end(t *testing.T) {
	t.Helper()
	h.stop()
	if err := <-h.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// quick shortens the windows and the quarantine of the namespace.
func (r *room) quick() {
	r.t.Helper()
	server.ShortWindows(r.t, r.conn)
}

func TestKeepersNeverShareAWorkerAndATakeOverRepeatsNoID(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "41/0/2/12") // three workers
	r.quick()
	var drawing sync.WaitGroup
	var mu sync.Mutex
	seen, byWorker := map[int64]bool{}, map[int64]int{}
	draw := func(h *process, stop <-chan struct{}) {
		drawing.Go(func() {
			pace := time.NewTicker(time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-stop:
					return
				case <-pace.C:
				}
				first, count, _ := h.generator.TryNextN(20) // no ID without a grant
				mu.Lock()
				for id := first; id < first+int64(count); id++ {
					if seen[id] {
						t.Errorf("id %d was issued twice", id)
					}
					seen[id] = true
					byWorker[id>>12&3]++
				}
				mu.Unlock()
			}
		})
	}
	stop := make(chan struct{})
	holders := []*process{r.hold("a", "41/0/2/12"), r.hold("b", "41/0/2/12"), r.hold("c", "41/0/2/12")}
	for _, h := range holders {
		draw(h, stop)
		h.granted(t)
	}
	fourth := r.hold("d", "41/0/2/12")
	draw(fourth, stop)
	enterBare(t, r.url).until("SELECT count(*) = 3 FROM pgflurry.worker WHERE kind = 'proxy' AND term = 1")

	holders[0].released = false // as if killed: it releases nothing, and its generator uses up the grant
	holders[0].end(t)
	fourth.granted(t)
	if term := ask[int](r, "SELECT term FROM pgflurry.worker WHERE node = 'd'"); term != 2 {
		t.Errorf("took over in term %d, expected 2", term)
	}
	enterBare(t, r.url).until("SELECT renewed_at > acquired_at FROM pgflurry.worker WHERE node = 'd'")
	close(stop)
	drawing.Wait()
	for _, h := range append(holders[1:], fourth) {
		h.end(t)
	}
	if len(byWorker) != 3 || len(seen) < 1000 {
		t.Errorf("%d IDs of workers %v prove little", len(seen), byWorker)
	}
	n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND released_at IS NOT NULL")
	if n != 3 {
		t.Errorf("%d workers are released, expected 3", n)
	}
}

func TestInvariant9AfterRunNoConnectionIsLeft(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	h := r.hold("a", small)
	h.granted(t)
	const connections = `FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
	r.until("SELECT count(*) = 1 " + connections) // the connection of the migration may still be closing
	h.end(t)
	r.until("SELECT count(*) = 0 " + connections)
	if _, err := h.generator.Next(t.Context()); !errors.Is(err, generator.ErrSealed) {
		t.Errorf("error %v, expected %v", err, generator.ErrSealed)
	}
}
