package namespace

import (
	"strings"
	"testing"
	"time"
)

// east is the home of region 3, as Compare sees it.
func east(t *testing.T) Seen {
	three := 3
	return Seen{
		Namespace: Namespace{
			ID: space, Layout: datacenters(t), Region: &three, DatabaseWorkers: 8, FunctionWorker: 96, Claim: "east",
		},
		Address: "east/shop", OID: 16384, Started: time.Unix(1, 0), Claims: map[int]string{96: "east"},
	}
}

// another returns a database of another server, changed by a function.
func another(s Seen, name string, change func(*Seen)) Seen {
	s.Address, s.Claim, s.Started = name+"/shop", name, s.Started.Add(time.Microsecond)
	s.Claims = map[int]string{s.FunctionWorker: name}
	change(&s)
	return s
}

// region makes a home the home of a region.
func region(number int) func(*Seen) {
	return func(s *Seen) {
		s.Region, s.FunctionWorker = &number, number<<5
		s.Claims = map[int]string{s.FunctionWorker: s.Claim}
	}
}

// joined makes a database that has joined a home, and that the home knows.
func joined(home Seen, worker int) func(*Seen) {
	return func(s *Seen) {
		s.Home, s.Region, s.FunctionWorker, s.Claims = home.Address, home.Region, worker, nil
		home.Claims[worker] = s.Claim
	}
}

func TestDatabasesThatShareNoWorkerMayGiveIDsSideBySide(t *testing.T) {
	home := east(t)
	list := []Seen{
		home, another(home, "west", region(4)), another(home, "first", region(0)), another(home, "last", region(31)),
		another(home, "billing", joined(home, 97)), another(home, "stock", joined(home, 103)),
	}
	if c := Compare(list); len(c.Collisions) > 0 || len(c.Notes) > 0 {
		t.Errorf("they collide: %+v", c)
	}
	if c := Compare(list[4:5]); len(c.Collisions) > 0 || len(c.Notes) != 1 ||
		!strings.Contains(c.Notes[0], "east/shop") {
		t.Errorf("one that has joined, without its home: %+v", c)
	}
}

func TestAClosedOriginalAndTheDatabaseInItsPlaceAreNoCollision(t *testing.T) {
	closed := east(t)
	moved := another(closed, "green", func(s *Seen) { s.Claims = closed.Claims })
	if c := Compare([]Seen{closed, moved}); len(c.Collisions) == 0 {
		t.Error("two homes of one space are said to be sound")
	}
	closed.Closed = true
	if c := Compare([]Seen{closed, moved}); len(c.Collisions) > 0 || len(c.Notes) != 1 ||
		c.Notes[0] != "east/shop was closed for good: it gives no IDs." {
		t.Errorf("the original is closed: %+v", c)
	}
}

func TestOneDatabaseByTwoNamesAndItsReplicaAreNoCollision(t *testing.T) {
	home := east(t)
	pooled := home
	pooled.Address = "pooler/shop"
	standby := another(home, "standby", func(s *Seen) { s.Claim, s.Standby = home.Claim, true })
	c := Compare([]Seen{home, pooled, standby})
	if len(c.Collisions) > 0 || len(c.Notes) != 3 || !strings.Contains(c.Notes[0], "the same database") ||
		!strings.Contains(c.Notes[1], "replica") {
		t.Errorf("%+v", c)
	}
}

func TestDatabasesThatMayGiveOneIDTwiceAreNamedWithTheWorkersAndTheReason(t *testing.T) {
	home := east(t)
	whole := another(home, "whole", func(s *Seen) { s.Region, s.FunctionWorker, s.DatabaseWorkers = nil, 0, 16 })
	for name, c := range map[string]struct {
		a, b    Seen
		workers string // "": none is named
		why     string
	}{
		"one number":             {home, another(home, "typo", region(3)), "96 to 127", "both are region 3"},
		"a region and the whole": {home, whole, "96 to 127", "one of them has no region"},
		"two homes without regions": {
			whole, another(whole, "other", func(*Seen) {}), "0 to 1023", "the whole ID space",
		},
		"a clone": {
			home, another(home, "clone", func(s *Seen) { s.Claim = home.Claim }), "96 to 127",
			"a copy of the files of the other's server",
		},
		"two ID spaces": {
			home, another(home, "foreign", func(s *Seen) { s.ID = "1" + s.ID[1:] }), "96 to 127", "two ID spaces",
		},
		"two ID spaces that share no worker": {
			home, another(home, "foreign", func(s *Seen) { s.ID = "1" + s.ID[1:]; region(4)(s) }), "", "two ID spaces",
		},
		"two layouts": {
			home, another(home, "changed", func(s *Seen) { region(4)(s); s.Layout.Unit = time.Second }), "",
			"one namespace has two layouts",
		},
		"a joined database that its home has forgotten": {
			home, another(home, "forgotten", func(s *Seen) { joined(home, 99)(s); delete(home.Claims, 99) }), "99",
			"east/shop does not know that",
		},
		"a worker that was given to another": {
			home, another(home, "late", func(s *Seen) { joined(home, 98)(s); home.Claims[98] = "another" }), "98",
			"east/shop knows another database",
		},
		"two functions with one worker": {
			another(home, "one", joined(home, 100)), another(home, "two", joined(home, 100)), "100",
			"the functions of both have worker 100",
		},
	} {
		for _, list := range [][]Seen{{c.a, c.b}, {c.b, c.a}} {
			found := Compare(list).Collisions
			if len(found) != 1 || !strings.Contains(found[0].Why, c.why) || found[0].Hint == "" || found[0].A != 0 ||
				found[0].B != 1 {
				t.Errorf("%s: %+v; expected %q", name, found, c.why)
				continue
			}
			if workers := found[0].Workers; (workers == nil) != (c.workers == "") ||
				workers != nil && workers.String() != c.workers {
				t.Errorf("%s: workers %v; expected %q", name, workers, c.workers)
			}
		}
	}
}

func TestACopyIsNamedAloneAndSharesNoWorkerBecauseItGivesNone(t *testing.T) {
	home := east(t)
	copied := another(home, "copy", func(s *Seen) { s.copied, s.Claim = "database \"shop\" is a copy", home.Claim })
	found := Compare([]Seen{home, copied}).Collisions
	if len(found) != 1 || found[0].A != 1 || found[0].B != 1 || !strings.Contains(found[0].Why, "is a copy") {
		t.Errorf("%+v", found)
	}
}

func TestARegionHasTheWorkersOfItsNumberAndProxiesThoseThatFunctionsLeave(t *testing.T) {
	s := east(t)
	s.Functions = Ranges{{96, 103}}
	if s.Workers().String() != "96 to 127" || s.Proxies().String() != "104 to 127" || s.Workers().Size() != 32 {
		t.Errorf("region 3 has %v: %v for proxies", s.Workers(), s.Proxies())
	}
	s.Region = nil
	if s.Workers().String() != "0 to 1023" {
		t.Errorf("without a region: %v", s.Workers())
	}
}
