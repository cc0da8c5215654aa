package unique

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A pair is a primary with a standby that follows it. A network that the test controls leads to each.
type pair struct {
	*room
	standby     *postgres.Cluster
	replication *network.Link // from the primary to the standby
	database    *network.Link // from proxies and clients to the primary, later to the standby
	through     string        // URL of the database over that network
}

func newPair(t *testing.T, layout string, synchronous bool) *pair {
	t.Helper()
	p := &pair{room: ownServer(t, layout)}
	p.replication, _ = network.To(t, p.direct)
	p.database, p.through = network.To(t, p.direct)
	host, port := hostAndPort(t, p.replication.Address())
	p.standby = server.Standby(t, p.cluster, "standby", fmt.Sprintf("host=%s port=%s", host, port), nil)
	if synchronous {
		p.do("ALTER SYSTEM SET synchronous_standby_names = standby")
		p.do("SELECT pg_reload_conf()")
		p.until("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
	} else {
		p.until("SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'")
	}
	return p
}

// failOver crashes the primary and promotes the standby. The room moves there; proxies and clients cannot reach it yet.
func (p *pair) failOver() {
	p.t.Helper()
	server.Crash(p.t, p.cluster)
	p.database.Lead("")
	p.switchTo(p.standby.URL("postgres"))
	server.Promote(p.t, p.standby)
}

// open lets proxies and clients reach the standby.
func (p *pair) open() { p.database.Lead(fmt.Sprint("127.0.0.1:", p.standby.Port)) }

// below fails if a proxy's ID is at or above the mark of its worker on the room's server.
func (p *pair) below(ids []int64) {
	p.t.Helper()
	marks := map[int64]int64{}
	for _, id := range ids {
		worker := p.workerOf(id)
		if _, known := marks[worker]; !known {
			marks[worker] = p.mark(worker)
		}
		if mark := marks[worker]; worker != function && p.tickOf(id) >= mark {
			p.t.Fatalf("ID %d is of tick %d, but the mark of worker %d is %d: its acknowledgement was lost",
				id, p.tickOf(id), worker, mark)
		}
	}
}

// ahead returns a check: is an ID at or above the mark that the standby has for its worker?
func (p *pair) ahead(standby *room) func(id int64) bool {
	return func(id int64) bool { return p.byProxy(id) && p.tickOf(id) >= standby.mark(p.workerOf(id)) }
}

func TestAfterASynchronousFailoverEveryIDIsBelowTheMarksThatSurvived(t *testing.T) {
	t.Parallel()
	p := newPair(t, threeWorkers, true)
	one, two := program.Serve(t, p.through, "one", short), program.Serve(t, p.through, "two", short)
	first, second := p.again(one.URL), p.again(two.URL)
	worker := p.workerOf(p.drawUntil(first, p.byProxy))
	p.drawUntil(second, p.byProxy)
	var drawn []int64
	for renewals, mark := 0, p.mark(worker); renewals < 3; { // the last IDs come from renewed grants
		drawn = append(append(drawn, p.draw(first, 10)...), p.draw(second, 10)...)
		p.draw(p.conn, 10)
		if now := p.mark(worker); now != mark {
			renewals, mark = renewals+1, now
		}
	}
	p.failOver()
	p.below(drawn)
	p.open()
	for _, proxy := range []*program.Proxy{one, two} {
		p.drawUntil(p.again(proxy.URL), p.byProxy)
	}
	p.draw(p.conn, 100)
}

func TestAnAsynchronousFailoverThatForgetsRenewalsAndAcquisitionsGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	p := newPair(t, threeWorkers, false)
	one := program.Serve(t, p.through, "one", short)
	standby := &room{t: t, conn: server.Connect(t, p.standby.URL("postgres"))}
	standby.until("SELECT count(*) = 1 FROM pgflurry.worker WHERE kind = 'proxy' AND term = 1")

	p.replication.Lead("") // the standby gets nothing of all that follows
	first := p.again(one.URL)
	p.drawUntil(first, p.ahead(standby))
	two := program.Serve(t, p.through, "two", short)
	second := p.again(two.URL)
	p.drawUntil(second, p.ahead(standby))
	p.draw(first, 500)
	p.draw(second, 500)
	p.draw(p.conn, 500)
	p.failOver()

	three := program.ServeUnleased(t, p.standby.URL("postgres"), "three", short)
	three.Line("no worker is granted yet")
	p.open()
	first, second = p.again(one.URL), p.again(two.URL)
	p.draw(first, 500) // from what is left of the grants, or from the function
	p.draw(second, 500)
	p.draw(p.conn, 500)
	three.Leased()
	p.drawUntil(p.again(three.URL), p.byProxy)
	p.drawUntil(first, p.byProxy)
	p.drawUntil(second, p.byProxy)
	for _, conn := range []*pgx.Conn{first, second, p.again(three.URL), p.conn} {
		p.draw(conn, 500)
	}
}

func TestOnAReadOnlyDatabaseIDsGoOnToTheMarkAndThenTheErrorIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	p := newPair(t, oneWorker, true)
	proxy := program.Serve(t, p.through, "one", short)
	p.drawUntil(p.again(proxy.URL), p.by(1))
	server.Crash(t, p.cluster)
	p.open() // the standby takes reads, and is not promoted
	p.switchTo(p.standby.URL("postgres"))
	conn := p.again(proxy.URL)
	for {
		id, err := one(conn)
		if err == nil {
			p.note(id)
			p.below([]int64{id})
			continue
		}
		var said *pgconn.PgError
		if !errors.As(err, &said) || said.Code != "25006" {
			t.Fatalf("at the mark the client was told %v, expected PostgreSQL's own 25006", err)
		}
		break
	}
	server.Promote(p.t, p.standby)
	deadline := time.Now().Add(patience)
	for id, err := one(conn); err != nil || !p.byProxy(id); id, err = one(conn) {
		if err == nil {
			p.note(id)
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the promotion: ID %d, %v", id, err)
		}
	}
	p.draw(conn, 500)
	p.draw(p.conn, 500)
}

// If somebody cancels a commit's wait for its standby, PostgreSQL reports success with a warning. A failover loses that
// commit.
func TestIDsEndAtTheMarkThatTheHungStandbyHasHoweverOftenWaitsForItAreCancelled(t *testing.T) {
	t.Parallel()
	p := newPair(t, oneWorker, true)
	proxy := program.Serve(t, p.through, "one", short)
	conn := p.again(proxy.URL)
	p.drawUntil(conn, p.by(1))
	p.replication.Silence()
	ended, cancelling := make(chan struct{}), server.Connect(t, p.direct)
	done := make(chan error, 1)
	go func() {
		for {
			select {
			case <-ended:
				done <- nil
				return
			default:
			}
			_, err := cancelling.Exec(t.Context(),
				"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			if err != nil {
				done <- err
				return
			}
		}
	}()
	proxy.Line("the database does not acknowledge", "canceling wait for synchronous replication")
	drawn := p.draw(conn, 1)
	for p.byProxy(drawn[len(drawn)-1]) {
		drawn = append(drawn, p.draw(conn, 1)...)
	}
	// The standby may have got the mark of the first wait although its confirmation was lost. Draw until the primary
	// has a higher mark.
	for there := (&room{t: t, conn: server.Connect(t, p.standby.URL("postgres"))}).mark(1); p.mark(1) <= there; {
		drawn = append(drawn, p.draw(conn, 1)...)
	}
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.failOver()
	p.below(drawn)
	p.do("ALTER SYSTEM RESET synchronous_standby_names")
	p.do("SELECT pg_reload_conf()")
	rival := program.ServeUnleased(t, p.standby.URL("postgres"), "rival", short)
	rival.Leased() // the first proxy still cannot reach it
	p.drawUntil(p.again(rival.URL), p.by(1))
	p.open()
	for _, conn := range []*pgx.Conn{p.again(rival.URL), p.again(proxy.URL), p.conn} {
		p.draw(conn, 500)
	}
}
