//go:build unix

package node_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/config"
	"pgflurry/fresh"
	"pgflurry/report"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// behindLink is a node whose upstream and lease database are both behind a link.
func behindLink(t *testing.T, s config.Given) (*running, *network.Link) {
	t.Helper()
	direct := s.LeaseDatabase
	link, through := network.To(t, direct)
	s.LeaseDatabase, s.Upstream = through, link.Address()
	r := start(t, s)
	r.direct = direct
	r.answers(t)
	return r, link
}

func TestAClientThatFindsPostgreSQLAwayLeavesANodeThatIsQuietAgainAndWakesForTheNextOne(t *testing.T) {
	server.NoLeak(t)
	r, link := behindLink(t, quietly(t, "away"))
	inside := r.inside(t)
	elsewhere := server.Parse(t, r.direct)
	elsewhere.Host = r.Addr().String()
	relayed, err := pgx.ParseConfig(elsewhere.String())
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]*pgx.ConnConfig{"relay": relayed, "ID database": r.idConfig(t)} {
		since := r.becomesQuiet(t)
		link.Lead("")
		conn, err := pgx.ConnectConfig(server.Within(t), config)
		if err == nil {
			conn.Close(server.Within(t))
		}
		server.Says(t, err, "57P03")
		if st := r.State(); st.Woken.Before(since) {
			t.Errorf("%s: it did not wake: quiet since %v, woken %v", name, since, st.Woken)
		}
		again := r.becomesQuiet(t)
		link.Lead(server.Parse(t, r.direct).Host)
		server.Value[int64](t, inside, "SELECT next_snowflake()")
		r.wokeUp(t, again)
	}
}

func TestADrawInTheIDDatabaseWaitsForAPostgreSQLThatWakesAndKeepsTheNodeAwake(t *testing.T) {
	server.NoLeak(t)
	s := quietly(t, "patient")
	r, link := behindLink(t, s)
	inside := r.inside(t)
	since := r.becomesQuiet(t)
	link.Lead("")
	drawn := make(chan error, 1)
	go func() {
		var id int64
		drawn <- inside.QueryRow(server.Within(t), "SELECT next_snowflake()").Scan(&id)
	}()
	r.until(t, "that PostgreSQL is away", func(s report.State) bool { return s.Lease.Reason == "unanswered" })
	server.Pause(t.Context(), 2*s.QuietAfter)
	link.Lead(server.Parse(t, r.direct).Host)
	if err := <-drawn; err != nil {
		t.Error(err)
	}
	r.wokeUp(t, since)
}

// moments are those at which clients come to a node that becomes quiet.
var moments = map[string]func(s report.State) bool{
	"it decides to be quiet": func(s report.State) bool { return !s.QuietSince.IsZero() },
	"its worker is released": func(s report.State) bool { return !s.QuietSince.IsZero() && !s.Lease.Held },
	"it is quiet":            func(s report.State) bool { return !s.QuietSince.IsZero() && s.Lease.Cause != "" },
}

func TestInvariant10NoIDComesTwiceAndNoneFailsHoweverOftenNodesSleepAndClientsComeMeanwhile(t *testing.T) {
	server.NoLeak(t)
	s := quietly(t, "sleeper")
	direct := s.LeaseDatabase
	all, rounds := recorder.New("", 1<<30), volume.Of(3, 100)
	var clients sync.WaitGroup
	come := func(r *running, moment string, conn *pgx.Conn) {
		clients.Go(func() {
			for range rounds {
				if err := r.drawAt(moments[moment], conn, all); err != nil {
					t.Errorf("when %s, database %s: %v", moment, conn.Config().Database, err)
					return
				}
			}
		})
	}
	node := func(name string) *running {
		s.Name = name
		r := start(t, s)
		r.direct = direct
		r.answers(t)
		return r
	}
	for moment := range moments {
		r := node("alone, when " + moment)
		come(r, moment, r.inside(t))
	}
	r := node("of many")
	for moment := range moments {
		come(r, moment, r.connect(t))
		come(r, moment, r.inside(t))
	}
	clients.Wait()
	if drawn := int64(3 * len(moments) * rounds * (20 + 300)); all.Len() != drawn {
		t.Errorf("%d IDs, expected %d", all.Len(), drawn)
	}
}

// drawAt draws at a moment, one after the other and many at once.
func (r *running) drawAt(moment func(report.State) bool, conn *pgx.Conn, all *recorder.Recorder) error {
	ctx, cancel := context.WithTimeout(context.Background(), server.Patience)
	defer cancel()
	for !moment(r.State()) {
		if fresh.Rest(ctx, time.Millisecond, nil); ctx.Err() != nil {
			return fmt.Errorf("the moment never came: %+v", r.State())
		}
	}
	for range 20 {
		var id int64
		if err := conn.QueryRow(ctx, "SELECT next_snowflake()").Scan(&id); err != nil {
			return err
		}
		if err := all.Add(id); err != nil {
			return err
		}
	}
	rows, err := conn.Query(ctx, "SELECT next_snowflake() FROM generate_series(1, 300)")
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	return all.Add(ids...)
}
