//go:build full

package simulation

import (
	"os"
	"testing"
	"time"
)

// unlimited answers everything within 2 ms. So only the keepers themselves spread their requests.
var unlimited = fleetSettings{capacity: capacity{trip: 2 * time.Millisecond}}

// measured is a machine with two processors (Intel Xeon) and PostgreSQL 15.18 with fsync, on 2026-11-23. Client and
// server shared it with other work, so the times are upper bounds. "make measure-scale" measures them:
//
//   - Renewals a second over 1, 8 and 64 connections were 467, 854 and 1,020: 2 ms of processor each.
//   - An acquisition took 2.2 ms with 1,008 workers, all unused or all released, and 1.8 ms with none free. With 8,176
//     it took 10.5, 11.2 and 3.6 ms, with 65,520 it took 87, 75 and 16 ms. The formula gives 12.2, 12.2 and 3.5 ms,
//     and 83, 83 and 18 ms.
//   - To connect and leave took 3.1 ms of processor time (commit 1a0f4558fc85). The round trip is assumed.
var measured = capacity{
	cores: 2, trip: 2 * time.Millisecond, login: 3 * time.Millisecond, renew: 2 * time.Millisecond,
	acquire: 1500 * time.Microsecond, perRow: 250 * time.Nanosecond, perFree: time.Microsecond,
}

// startAll starts n members at once. Another generation has nodes with other names.
func (f *fleet) startAll(generation string, n int) {
	for _, node := range names(n) {
		f.begin(generation + node)
	}
}

// killAll kills all members.
func (f *fleet) killAll() {
	for _, m := range f.members {
		m.kill()
	}
	f.members = nil
}

// finishAll lets all members end in good order, and waits.
func (f *fleet) finishAll() {
	for _, m := range f.members {
		m.finish()
	}
	f.pass(4 * time.Second)
	for _, m := range f.members {
		if !m.ended {
			f.t.Fatalf("%s has not ended", m.node)
		}
	}
	f.members = nil
}

// issuing returns the seconds from a start until n members had IDs, or -1.
func (f *fleet) issuing(from, n int) int {
	for i, s := range f.seconds[from:] {
		if s.issuing >= n {
			return i + 1
		}
	}
	return -1
}

// most returns the greatest value of a second.
func most(seconds []second, of func(second) int) (n int) {
	for _, s := range seconds {
		n = max(n, of(s))
	}
	return n
}

func questions(s second) int { return s.questions() }
func granted(s second) int   { return s.granted }
func renewals(s second) int  { return s.renewals }

func TestAThousandProxiesThatStartAtOnceHaveAWorkerEachAsSoonAsTheServerCanCountThem(t *testing.T) {
	inFleet(t, fleetSettings{capacity: measured}, func(f *fleet) {
		f.startAll("a", 1000)
		f.pass(time.Minute)
		// 1,000 logins and acquisitions of 6 ms each, on two processors. It gets cheaper as fewer workers are left.
		if took := f.issuing(0, 1000); took < 0 || took > 4 {
			t.Errorf("all had IDs after %d s, expected 4 at most", took)
		}
		if lost := f.database.leased() - 1000; lost != 0 {
			t.Errorf("%d workers were taken that nobody uses", lost)
		}
	})
}

func TestAThousandLeasesSpreadTheirRenewalsByThemselves(t *testing.T) {
	inFleet(t, unlimited, func(f *fleet) {
		f.startAll("a", 1000)
		f.pass(12 * time.Minute)
		later := f.seconds[10*60:]
		sum := 0
		for _, s := range later {
			sum += s.renewals
		}
		if mean := sum / len(later); mean < 48 || mean > 52 {
			t.Errorf("%d renewals a second, expected 50", mean)
		}
		if peak := most(later, renewals); peak > 100 {
			t.Errorf("%d renewals in one second, ten minutes after all had started at once; expected 100 at most", peak)
		}
	})
}

// The workers of killed proxies become free one by one. A refusal tells each waiting proxy when the next worker becomes
// free.
func TestAThousandThatWaitForTheWorkersOfAKilledFleetDoNotStormTheDatabase(t *testing.T) {
	inFleet(t, unlimited, func(f *fleet) {
		f.startAll("a", 1000)
		f.pass(2 * time.Minute)
		f.killAll()
		from := len(f.seconds)
		f.startAll("b", 1000)
		f.pass(4 * time.Minute)
		if took := f.issuing(from, 1000); took < 0 || took > 200 {
			t.Errorf("all had IDs after %d s, expected 200 at most: 182 until the last worker is free", took)
		}
		if peak := most(f.seconds[from+1:], questions); peak > 700 {
			t.Errorf("%d questions in a second, expected 700 at most", peak)
		}
	})
}

func TestAThousandThatWaitForTheGateDoNotComeTogetherWhenItOpens(t *testing.T) {
	inFleet(t, unlimited, func(f *fleet) {
		f.pass(time.Minute)
		f.failover()
		from := len(f.seconds)
		f.startAll("a", 1000)
		f.pass(3 * time.Minute)
		if took := f.issuing(from, 1000); took < 0 || took > 125 {
			t.Errorf("all had IDs after %d s, expected 125 at most: the gate opens after 120", took)
		}
		if peak := most(f.seconds[from+1:], granted); peak > 700 {
			t.Errorf("%d acquisitions in a second, expected 700 at most", peak)
		}
	})
}

func TestNoneOfAFleetIsLeftWithoutAWorkerWhileSomeAreFree(t *testing.T) {
	inFleet(t, fleetSettings{capacity: measured}, func(f *fleet) {
		f.startAll("a", 1000)
		f.pass(2 * time.Minute)
		for _, hard := range []bool{true, false} {
			f.database.cut()
			f.database.away = stopped
			if hard {
				f.database.away = hung
			}
			f.pass(6 * time.Minute) // every lease is over, and every worker free
			f.database.away = present
			from := len(f.seconds)
			f.pass(2 * time.Minute)
			if took := f.issuing(from, 1000); took < 0 || took > 30 {
				t.Errorf("hung: %t: all had IDs %d s after the database was back, expected 30 at most", hard, took)
			}
		}
	})
}

// All acquisitions at once share the processors, so none of them ends in time. Each is tried again.
func TestTenThousandThatLostTheirLeasesComeBackThroughAPoolerAndHardlyWithoutOne(t *testing.T) {
	if os.Getenv("PGFLURRY_TEST_SCALE") == "" {
		t.Skip("takes minutes: set PGFLURRY_TEST_SCALE=1")
	}
	back := map[int]int{} // proxies with IDs after two minutes, by size of the pooler; 0: no pooler
	for _, statements := range []int{0, 32} {
		c := pooled()
		c.pooled = statements
		inFleet(t, fleetSettings{workerBits: 14, capacity: c}, func(f *fleet) {
			f.database.capacity = unlimited.capacity
			f.startAll("a", 10_000)
			f.pass(time.Minute)
			f.database.capacity = c
			f.without(6 * time.Minute)
			f.pass(2 * time.Minute)
			back[statements] = f.seconds[len(f.seconds)-1].issuing
		})
	}
	t.Logf("back after two minutes: %d of 10,000 without a pooler, %d with one", back[0], back[32])
	if back[32] != 10_000 || back[0] > 5_000 {
		t.Errorf("expected all with one and less than half without")
	}
}
