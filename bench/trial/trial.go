package trial

import (
	"context"
	"fmt"
	"time"
)

// The roles of processes that are watched.
const (
	Middle   = "middle"   // a server in front of PostgreSQL
	Database = "database" // PostgreSQL
	Self     = "self"     // this process; its time is in Count.Spent, and nothing is watched
)

// Count is the result of one run of a trial.
type Count struct {
	Operations int64         `json:"operations"` // in the workload's unit
	Elapsed    time.Duration `json:"elapsed_ns"` // without connecting
	// Latency has percentiles of a round trip, by name ("p99"); nil if not measured.
	Latency map[string]time.Duration `json:"latency_ns,omitempty"`
	// Also are further figures of the run, by a name with their unit: "WAL bytes, each".
	Also map[string]float64 `json:"also,omitempty"`
	// Spent is the processor time meanwhile, by role, the Opening included. Servers that cannot be watched are missing.
	Spent map[string]time.Duration `json:"cpu_ns,omitempty"`
	// Opening is part of the run and of Spent, but of no figure of processor time; nil if the clients had connected
	// before the run.
	Opening *Opening `json:"opening,omitempty"`
}

// Opening is the cost of connecting, for a driver that connects within its run. In a run of their own right before, the
// same clients connect, do the work once each, and leave.
type Opening struct {
	Operations int64                    `json:"operations"`
	CPU        map[string]time.Duration `json:"cpu_ns"` // by role
}

// Measure runs work and puts the processor time of the watched servers into Count.Spent. It waits until the processes
// that came meanwhile have ended, so that the next contender does not pay for them.
type Measure func(work func() (Count, error)) (Count, error)

// Unwatched is the Measure that measures nothing.
func Unwatched(work func() (Count, error)) (Count, error) { return work() }

// Turn works for about d, and longer only to finish what it has begun. It does that within measure. Outside of it the
// clients connect, warm the caches, and leave.
type Turn func(ctx context.Context, d time.Duration, measure Measure) (Count, error)

// Workload is work that every contender does in the same way.
type Workload struct {
	Name    string        // unique within a plan: "SELECT 1, simple, 16 clients"
	Task    string        // the name without the number of clients
	Clients int           // 0: not applicable
	Counts  string        // name of an operation, plural: "statements"
	Settle  time.Duration // at the begin of each turn, and in no figure of speed
}

// With is a workload with that many clients; unit is "client" or "goroutine".
func With(task string, clients int, unit, counts string) Workload {
	return Workload{Name: task + ", " + Counted(clients, unit), Task: task, Clients: clients, Counts: counts}
}

// Counted is a number with its noun: "1 client", "2 clients".
func Counted(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Trial is one contender at one workload.
type Trial struct {
	Workload  Workload
	Contender string
	Through   bool // through a server in front of PostgreSQL
	Run       Turn
}

// Sample is one run of a trial.
type Sample struct {
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Round     int    `json:"round"` // from 1
	Count
}

// PerSecond is the throughput in operations per second.
func (s Sample) PerSecond() float64 { return float64(s.Operations) / s.Elapsed.Seconds() }

// CPUEach is the processor time of a role for one operation, in microseconds and without the Opening, if measured.
func (s Sample) CPUEach(role string) (each float64, measured bool) {
	spent, measured := s.Spent[role]
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

// ServerCPUEach is the same for all servers together.
func (s Sample) ServerCPUEach() (each float64, measured bool) {
	for role := range s.Spent {
		if of, has := s.CPUEach(role); has && role != Self {
			each, measured = each+of, true
		}
	}
	return each, measured
}

// Add adds a further figure.
func (c *Count) Add(name string, figure float64) {
	if c.Also == nil {
		c.Also = make(map[string]float64)
	}
	c.Also[name] = figure
}
