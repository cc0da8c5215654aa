package unique

import (
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestStepsOfTheDatabasesClockByTenMinutesStallNoProxyAndRepeatNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t, threeWorkers)
	one, two := program.Serve(t, r.direct, "one", short), program.Serve(t, r.direct, "two", short)
	conns := []*pgx.Conn{server.Connect(t, one.URL), server.Connect(t, two.URL)}
	last := map[int64]int64{}
	draw := func(conns ...*pgx.Conn) {
		t.Helper()
		for _, conn := range conns {
			r.drawUntil(conn, r.byProxy)
			for _, id := range r.draw(conn, 300) {
				worker := r.workerOf(id)
				if id <= last[worker] && worker != function {
					t.Fatalf("after %d worker %d gave %d", last[worker], worker, id)
				}
				last[worker] = id
			}
		}
	}
	draw(conns...)
	before := r.tickOf(last[r.workerOf(r.drawUntil(conns[0], r.byProxy))])
	for _, step := range []time.Duration{10 * time.Minute, -10 * time.Minute, -10 * time.Minute, 10 * time.Minute} {
		server.StepClock(t, r.conn, step)
		taken := ask[time.Time](r, "SELECT clock_timestamp()")
		// both proxies have renewed since the step
		r.until("SELECT count(DISTINCT node) = 2 FROM pgflurry.worker WHERE renewed_at > $1", taken)
		draw(conns...)
	}
	if far := r.tickOf(last[r.workerOf(r.drawUntil(conns[0], r.byProxy))]) - before; far < 590_000 {
		t.Errorf("IDs went %d ticks ahead: the steps were not taken, so this proves nothing", far)
	}
	// a proxy that starts now begins at the clock as it is: its worker was never that far ahead
	one.Signal(syscall.SIGKILL)
	one.End()
	three := program.Serve(t, r.direct, "three", short)
	draw(server.Connect(t, three.URL), conns[1])
}
