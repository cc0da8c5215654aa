package leasing

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/server"
)

func TestALeaseWorksThroughAPoolerInTransactionModeAndLeavesNothingInItsSessions(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("ALTER DATABASE " + ask[string](r, "SELECT current_database()") + " SET synchronous_commit = off")
	through := server.Pooler(t, r.url, 1)
	const settings = "SELECT concat_ws(' ', current_setting('synchronous_commit'), current_setting('lock_timeout'), " +
		"current_setting('search_path'), pg_backend_pid())"
	pool := enterBare(t, through+"&default_query_exec_mode=exec")
	before := ask[string](pool, settings)

	// several holders share the only connection of the pool
	var all sync.WaitGroup
	for i := range 4 {
		s, request, ctx := r.store(through), r.request(fmt.Sprint("node ", i)), r.context()
		all.Go(func() {
			defer s.Close()
			a, err := s.Acquire(ctx, request)
			for errors.Is(err, lease.ErrBlocked) {
				a, err = s.Acquire(ctx, request)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for range 10 {
				renewed, err := s.Renew(ctx, renewal(a, a.Grant.Until+1000))
				if err != nil {
					t.Error(err)
					return
				}
				a.Grant.Until = renewed.Until
			}
			if err := s.Release(ctx, a.Lease, a.Grant.Until); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE released_at IS NOT NULL AND term = 1"); n != 4 {
		t.Errorf("%d workers were used and released, expected 4", n)
	}
	if after := ask[string](pool, settings); after != before {
		t.Errorf("the pool's session had settings %q, now %q", before, after)
	}
	pool.conn.Close(pool.context())
}
