//go:build full && linux

package ha

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/tests/support/load"
	"pgflurry/tests/support/meter"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A storm is a series of faults in random order, under load.
type storm struct {
	*cluster
	load   *load.Load
	dice   *rand.Rand
	begun  time.Time
	limit  time.Duration
	report outcome
	end    func() // ends the clients and fills the report
}

func TestSynchronousStrictFailoversRepeatNoID(t *testing.T) { newStorm(t, strict, quick).rage() }

func TestAsynchronousFailoversRepeatWhatIsPromised(t *testing.T) {
	newStorm(t, asynchronous, quick).rage()
}

func TestSynchronousFailoversRepeatNoID(t *testing.T) {
	if !long(t) {
		t.Skip("only when faults last for 10 minutes or longer")
	}
	newStorm(t, synchronous, quick).rage()
}

// Each fault once, with the times of deploy/ha. Its report has the numbers of docs/high-availability.md.
func TestWhatEachFaultCostsWithTheTimesThatAreShipped(t *testing.T) {
	if !long(t) {
		t.Skip("only when faults last for 10 minutes or longer")
	}
	s := newStorm(t, strict, shipped)
	now := s.settled()
	for _, f := range faults {
		if !t.Failed() {
			now = s.happen(f, now)
		}
	}
	s.judge()
}

// long says whether there is time for every storm.
func long(t *testing.T) bool { return duration(t) >= 10*time.Minute }

// newStorm starts a cluster and its clients. A short run has two modes, a long one three.
func newStorm(t *testing.T, mode mode, times times) *storm {
	t.Helper()
	s := &storm{begun: time.Now(), limit: duration(t) / 2}
	if long(t) {
		s.limit = duration(t) / 3
	}
	s.report.Mode, s.report.Times = mode, times.changes
	s.report.Seed = *seed
	if s.report.Seed == 0 {
		s.report.Seed = rand.Uint64()
	}
	s.dice = rand.New(rand.NewPCG(s.report.Seed, 0))
	t.Logf("-ha.seed %d", s.report.Seed)
	s.cluster = newCluster(t, mode, times)
	targets := s.targets()
	_, err := exec.LookPath("java")
	targets.JDBC = err == nil
	s.load = load.Start(t, targets, load.Settings{CountTwice: true, Rate: *rate})
	s.end = sync.OnceFunc(func() {
		s.load.Stop()
		s.tell()
	})
	t.Cleanup(s.end) // also if something hangs
	t.Logf("%5.0f s  all is up", time.Since(s.begun).Seconds())
	return s
}

// rage lets faults happen until the storm is over.
func (s *storm) rage() {
	now := s.settled()
	for !s.over() {
		for _, f := range s.shuffled() {
			now = s.happen(f, now)
			if s.over() || s.t.Failed() {
				break
			}
		}
		if s.t.Failed() {
			break
		}
	}
	s.judge()
}

// judge ends the storm and its clients, and fails on duplicates.
func (s *storm) judge() {
	s.t.Helper()
	s.end()
	if mode := s.report.Mode; mode != asynchronous && s.report.Function+s.report.Proxies > 0 {
		s.t.Errorf("%s: IDs came twice", mode)
	}
	if s.report.Failovers == 0 {
		s.t.Error("there was no failover, so this proves nothing")
	}
	if s.report.Proxies > 0 {
		s.t.Error("IDs of proxies came twice") // in no mode: that takes a second fault
	}
}

// over says whether the time is over, or all goals are reached.
func (s *storm) over() bool {
	if s.report.Failovers == 0 {
		return false
	}
	if *failovers+int(*leastIDs) > 0 && s.report.Failovers >= *failovers && s.load.Report().IDs >= *leastIDs {
		return true
	}
	return time.Since(s.begun) > s.limit
}

// slowest is the shortest storm that includes faults with more than a minute of recovery.
const slowest = 3 * time.Minute

// shuffled returns a round of faults, in random order.
func (s *storm) shuffled() (round []fault) {
	chosen := regexp.MustCompile(*only)
	var others []fault
	for _, f := range faults {
		if !chosen.MatchString(f.what) || f.slow && s.limit < slowest {
			continue
		}
		if f.often == 0 {
			others = append(others, f)
		}
		round = append(round, slices.Repeat([]fault{f}, f.often)...)
	}
	s.dice.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	round = append(round, others[:min(2, len(others))]...)
	if len(round) == 0 {
		s.t.Fatalf("-ha.faults %q matches none", *only)
	}
	s.dice.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round
}

// happen lets a fault happen and waits until all is well again.
func (s *storm) happen(f fault, before state) state {
	s.t.Helper()
	at := time.Now()
	s.t.Logf("%5.0f s  %s: primary %s, timeline %d", time.Since(s.begun).Seconds(), f.what, before.primary,
		before.timeline)
	s.load.Mark(f.what)
	f.happen(s.cluster, before, s.dice)
	undone := time.Since(at)
	now := s.settled()
	s.cure()
	s.leased()
	outages := s.load.Settled()
	s.compareMarks()
	s.report.Faults++
	s.report.Failovers += max(0, now.timeline-before.timeline) // a primary that takes its key back goes back
	s.t.Logf("%5.0f s  undone after %4.1f s, well after %4.1f s, timeline %d, %s IDs; %s",
		time.Since(s.begun).Seconds(), undone.Seconds(), time.Since(at).Seconds(), now.timeline,
		meter.Thousands(s.load.Report().IDs), worst(outages))
	return now
}

// worst returns the longest outage of each service.
func worst(outages []meter.Outage) string {
	longest, order := map[string]time.Duration{}, []string{}
	for _, o := range outages {
		if _, is := longest[o.Service]; !is {
			order = append(order, o.Service)
		}
		longest[o.Service] = max(longest[o.Service], o.To.Sub(o.From))
	}
	for i, service := range order {
		order[i] = fmt.Sprintf("%s %.1f s", service, longest[service].Seconds())
	}
	return strings.Join(order, ", ")
}

// untilGate limits the wait of a proxy that has lost its lease: two quarantines.
const untilGate = 4 * time.Minute

// leased waits until each proxy holds a worker. A proxy that lost its lease waits for the gate.
func (s *storm) leased() {
	s.t.Helper()
	s.untilBy(time.Now().Add(untilGate), func() error {
		for _, name := range proxies {
			if s.metric(name, "pgflurry_lease_held") != 1 {
				return fmt.Errorf("%s holds no worker", name)
			}
		}
		return nil
	})
}

// cure does what docs/copies.md tells an operator to do if the function keeps failing with SNF01: the clock was
// far ahead.
func (s *storm) cure() {
	s.t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if err = s.draw(); err == nil || !strings.Contains(err.Error(), "SNF01") {
			return
		}
		server.Pause(s.t.Context(), 100*time.Millisecond)
	}
	s.report.Cures++
	s.t.Logf("the function says: %v", err)
	// After a failover the home first wants the operator's word that it knows every database that has joined.
	for _, flag := range []string{"--joins-complete", "--fresh-worker"} {
		s.command(os.Environ(), program.Path(s.t), "namespace", "set", flag, "--database", primaryURL("owner", owner))
	}
}

// draw draws more IDs from the function than a tick has. A function far ahead of the clock still gives the rest of its
// tick, so fewer IDs would prove nothing.
func (s *storm) draw() error {
	conn := s.connect(primaryURL("owner", owner))
	defer conn.Close(context.Background())
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	_, err := conn.Exec(ctx, "SELECT next_snowflake() FROM generate_series(1, 5000)")
	return err
}

// compareMarks draws an ID from each proxy. The ID must be below the mark on the primary.
func (s *storm) compareMarks() {
	s.t.Helper()
	primary := s.connect(primaryURL("owner", owner))
	defer primary.Close(context.Background())
	for i, url := range s.targets().IDDatabases {
		var id int64
		s.untilBy(time.Now().Add(untilGate), func() error {
			conn := s.connect(url)
			defer conn.Close(context.Background())
			return conn.QueryRow(s.t.Context(), "SELECT next_snowflake()").Scan(&id)
		})
		var below bool
		err := primary.QueryRow(s.t.Context(), `SELECT reserved_until > $1::bigint >> 22
			FROM pgflurry.worker WHERE worker = $1 >> 12 & 1023`, id). // the default layout
			Scan(&below)
		if err != nil || !below {
			s.t.Errorf("ID %d of %s is not below the mark in the table (%v)", id, proxies[i], err)
		}
	}
}
