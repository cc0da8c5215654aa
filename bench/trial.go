package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"
)

// Count is what one run of a trial did.
type Count struct {
	Operations int64         `json:"operations"` // in the workload's unit
	Elapsed    time.Duration `json:"elapsed_ns"` // without connecting
	// Latency has percentiles of the time of a round trip, by name ("p99"); nil if they were not taken.
	Latency map[string]time.Duration `json:"latency_ns,omitempty"`
	// WAL is how many bytes PostgreSQL wrote to its log meanwhile; nil if that was not looked at.
	WAL *int64 `json:"wal_bytes,omitempty"`
	// Spent is the processor time that was taken meanwhile, by role; nil if none was. It becomes Sample.CPU.
	Spent map[string]time.Duration `json:"-"`
	// Opening is in the run and in Spent, but in no figure of processor time; nil if the clients had connected before the run.
	Opening *Opening `json:"opening,omitempty"`
	// Index is the size of the primary key's index at the end, in bytes; nil if there was none.
	Index *int64 `json:"index_bytes,omitempty"`
}

// Opening is what a driver that connects within its run took for the same clients to connect, do the work once each, and leave,
// in a run of its own right before.
type Opening struct {
	Operations int64                    `json:"operations"`
	CPU        map[string]time.Duration `json:"cpu_ns"` // by role
}

// Measure runs work and takes the processor time that the watched servers spend meanwhile, into Count.Spent. It waits until the
// processes that came meanwhile have gone, so that none of their time is left to whoever comes next.
type Measure func(work func() (Count, error)) (Count, error)

// Unwatched is the Measure that takes nothing.
func Unwatched(work func() (Count, error)) (Count, error) { return work() }

// Turn works for about d, and not at all longer than it needs to finish what it began. It does that within measure; what its clients need
// before, a connection and caches that are warm, and what they leave behind, is outside.
type Turn func(ctx context.Context, d time.Duration, measure Measure) (Count, error)

// Workload is what is to be done, by every contender alike.
type Workload struct {
	Name    string // unique within a plan: "SELECT 1, simple, 16 clients"
	Task    string // the name without the number of clients
	Clients int    // 0 if it has no such number
	Unit    string // of an operation, plural: "statements"
	Group   string // workloads whose ratios are folded into one geometric mean
}

// withClients is a workload of so many clients.
func withClients(task string, clients int, unit, group string) Workload {
	return Workload{Name: task + ", " + counted(clients, "client"), Task: task, Clients: clients, Unit: unit, Group: group}
}

// Trial is one contender at one workload.
type Trial struct {
	Workload  Workload
	Contender string
	Through   bool // a server in front of PostgreSQL
	Run       Turn
}

// Sample is one run of a trial.
type Sample struct {
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Round     int    `json:"round"` // from 1
	Count
	// CPU is the processor time that each server spent on it, by role, its Opening included; a server that cannot be watched is missing.
	CPU map[string]time.Duration `json:"cpu_ns"`
}

// PerSecond is the throughput in operations per second.
func (s Sample) PerSecond() float64 { return float64(s.Operations) / s.Elapsed.Seconds() }

// WALEach is how many bytes of log PostgreSQL wrote for one operation, if that was looked at.
func (s Sample) WALEach() (each float64, measured bool) {
	if s.WAL == nil {
		return 0, false
	}
	return float64(*s.WAL) / float64(s.Operations), true
}

// IndexBytes is the size of the primary key's index at the end, if there was one.
func (s Sample) IndexBytes() (size float64, measured bool) {
	if s.Index == nil {
		return 0, false
	}
	return float64(*s.Index), true
}

// CPUEach is the processor time of a role for one operation, in microseconds and without the Opening, if it was measured.
func (s Sample) CPUEach(role string) (each float64, measured bool) {
	spent, measured := s.CPU[role]
	operations := s.Operations
	if s.Opening != nil {
		spent -= s.Opening.CPU[role]
		operations -= s.Opening.Operations
	}
	if !measured || operations <= 0 {
		return 0, false
	}
	return float64(spent) / float64(time.Microsecond) / float64(operations), true
}

// ServerCPUEach is the same of all servers together.
func (s Sample) ServerCPUEach() (each float64, measured bool) {
	for role := range s.CPU {
		if of, has := s.CPUEach(role); has && role != Self {
			each, measured = each+of, true
		}
	}
	return each, measured
}

// Plan is what Run does.
type Plan struct {
	Trials   []Trial
	Rounds   int           // at least 1
	Duration time.Duration // of each trial in each round
	WarmUp   time.Duration // of each trial before the first round; no warm-up if zero
	Seed     uint64        // decides the order of the contenders
	// Watch names the server processes whose processor time is taken, by contender and role.
	Watch map[string]map[string]int
	// Progress is told before each run of a trial how much of the Estimate is behind it; may be nil. Round 0 is the warm-up.
	Progress func(behind time.Duration, round int, next Trial)
	// Failed is told that a trial failed in a round, why, and so has no more turns. Without it the first failure ends the run.
	Failed func(round int, t Trial, why error)
}

// watch adds a server process whose processor time is taken; 0 is none.
func (p Plan) watch(contender, role string, pid int) {
	if p.Watch[contender] == nil {
		p.Watch[contender] = make(map[string]int)
	}
	if pid != 0 {
		p.Watch[contender][role] = pid
	}
}

// Estimate is about how long the plan takes.
func (p Plan) Estimate() time.Duration {
	return time.Duration(len(p.Trials)) * (p.WarmUp + time.Duration(p.Rounds)*p.Duration)
}

// Run does what the plan says. When ctx ends, a trial fails that nobody is told of, or none is left, it returns the samples taken so far
// and the reason.
func Run(ctx context.Context, p Plan) ([]Sample, error) {
	if len(p.Trials) == 0 || p.Rounds < 1 || p.Duration <= 0 {
		return nil, fmt.Errorf("the plan has %d trials, %d rounds of %v; expected at least one of each", len(p.Trials), p.Rounds, p.Duration)
	}
	order := rand.New(rand.NewPCG(p.Seed, 0))
	var samples []Sample
	failed := make(map[string]bool) // by workload and contender
	behind, first := time.Duration(0), 1
	if p.WarmUp > 0 {
		first = 0
	}
	for round := first; round <= p.Rounds; round++ {
		d := p.Duration
		if round == 0 {
			d = p.WarmUp
		}
		for _, trial := range shuffled(order, p.Trials) {
			if failed[trial.name()] {
				behind += d
				continue
			}
			if p.Progress != nil {
				p.Progress(behind, round, trial)
			}
			sample, err := p.take(ctx, trial, d)
			behind += d
			switch {
			case err == nil && round > 0:
				sample.Round = round
				samples = append(samples, sample)
			case err == nil: // the warm-up
			case ctx.Err() != nil || p.Failed == nil:
				return samples, err
			default:
				failed[trial.name()] = true
				p.Failed(round, trial, err)
				if len(failed) == len(p.Trials) {
					return samples, fmt.Errorf("no trial is left: %w", err)
				}
			}
		}
	}
	return samples, nil
}

// name is unique within a plan.
func (t Trial) name() string { return t.Workload.Name + ", " + t.Contender }

// take runs one trial once.
func (p Plan) take(ctx context.Context, t Trial, d time.Duration) (Sample, error) {
	s := Sample{Workload: t.Workload.Name, Contender: t.Contender, CPU: make(map[string]time.Duration)}
	var err error
	if s.Count, err = thisSystem().attend(ctx, t.Run, d, p.Watch[t.Contender]); err != nil {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		return s, fmt.Errorf("%s: %w", t.name(), err)
	}
	if s.Operations == 0 || s.Elapsed <= 0 {
		return s, fmt.Errorf("%s: %w", t.name(), errNothingDone)
	}
	maps.Copy(s.CPU, s.Spent)
	return s, nil
}

var errNothingDone = errors.New("nothing was done in the time; give --duration more")

// shuffled keeps the workloads in their order and mixes the contenders of each.
func shuffled(order *rand.Rand, trials []Trial) []Trial {
	mixed := make([]Trial, 0, len(trials))
	for from := 0; from < len(trials); {
		to := from + 1
		for to < len(trials) && trials[to].Workload.Name == trials[from].Workload.Name {
			to++
		}
		for _, i := range order.Perm(to - from) {
			mixed = append(mixed, trials[from+i])
		}
		from = to
	}
	return mixed
}
