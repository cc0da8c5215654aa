package leasing

import (
	"errors"
	"strings"
	"testing"

	"pgflurry/internal/lease"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestANodeOfADatacenterTakesOnlyItsWorkersAndIsRefusedWhenTheyAreAllHeld(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "41/2/2/12") // datacenter 2 has the workers 8 to 11
	s := r.store(r.url)
	workers := lease.Range{Lowest: 8, Highest: 11}
	taken := map[int]bool{}
	for range 4 {
		asked := r.request("same node")
		asked.Range = workers
		a, err := s.Acquire(r.context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		if a.Worker < 8 || a.Worker > 11 || taken[a.Worker] {
			t.Errorf("got worker %d after %v", a.Worker, taken)
		}
		taken[a.Worker] = true
	}
	asked := r.request("same node")
	asked.Range = workers
	_, err := s.Acquire(r.context(), asked)
	var refused *lease.Refusal
	if !errors.As(err, &refused) || refused.Reason != lease.NoWorker || refused.Workers != 4 || refused.Wait <= 0 ||
		!strings.Contains(err.Error(), "4 workers from 8 to 11") {
		t.Errorf("all held: %v", err)
	}
	if a := r.acquire(s, "elsewhere"); taken[a.Worker] {
		t.Errorf("a node of any datacenter got worker %d", a.Worker)
	}
}

func TestANodesOwnLastWorkerInAnotherDatacenterIsNotTaken(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "41/1/2/12")
	s := r.store(r.url)
	first := r.acquire(s, "moved")
	r.release(s, first.Lease)
	r.pass(window)
	asked := r.request("moved")
	asked.Range = lease.Range{Lowest: 4, Highest: 7}
	if first.Worker >= 4 {
		asked.Range = lease.Range{Lowest: 1, Highest: 3}
	}
	a, err := s.Acquire(r.context(), asked)
	if err != nil || a.Worker == first.Worker || a.Worker < asked.Range.Lowest || a.Worker > asked.Range.Highest {
		t.Errorf("got worker %d, %v; had worker %d, may take %v", a.Worker, err, first.Worker, asked.Range)
	}
}

func TestServeRefusesADatacenterThatTheLayoutLacksWithBothValues(t *testing.T) {
	t.Parallel()
	datacenters := server.MigratedWith(t, migrations.Settings{Layout: "41/2/2/12", DatabaseWorkers: 4})
	for _, c := range []struct {
		url, datacenter string
		words           []string
	}{
		{datacenters, "4", []string{
			"--datacenter is 4", "layout 41/2/2/12 has datacenters 0 to 3", "Choose one of these",
		}},
		{datacenters, "0", []string{"--datacenter 0 has workers 0 to 3", "workers 0 to 3 are for functions"}},
		{
			server.Migrated(t), "1",
			[]string{"--datacenter is 1", "layout 41/0/10/12 has no datacenter bits", "--layout datacenter"},
		},
		{datacenters, "west", []string{`--datacenter is "west"`, "expected a number"}},
		{datacenters, "-1", []string{`--datacenter is "-1"`}},
	} {
		p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1",
			"--lease-database", c.url, "--datacenter", c.datacenter)
		if code := p.End(); code != 2 {
			t.Errorf("datacenter %s: exit code %d", c.datacenter, code)
		}
		for _, word := range c.words {
			if !strings.Contains(p.Output(), word) {
				t.Errorf("datacenter %s: no %q in:\n%s", c.datacenter, word, p.Output())
			}
		}
	}
}

func TestServeWithADatacenterHoldsAWorkerOfIt(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, migrations.Settings{Layout: "datacenter"})
	p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "--lease-database", url,
		"--datacenter", "3")
	line := p.Line("worker acquired")
	r := enter(t, url)
	if w := ask[int](r, "SELECT worker FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0"); w < 96 || w > 127 {
		t.Errorf("worker %d, expected 96 to 127: %s", w, line)
	}
}
