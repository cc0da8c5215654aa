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

// Names in Count.Latency besides those of the percentiles.
const (
	Mean = "mean"
	Max  = "max"
)

// Count is the result of one run of a trial.
type Count struct {
	Operations int64         `json:"operations"` // in the workload's unit
	Elapsed    time.Duration `json:"elapsed_ns"` // without connecting
	// Latency has percentiles of a round trip, by name ("p99"); nil if not measured.
	Latency map[string]time.Duration `json:"latency_ns,omitempty"`
	// WAL is how many bytes PostgreSQL wrote to its log meanwhile; nil if not measured.
	WAL *int64 `json:"wal_bytes,omitempty"`
	// Spent is the processor time meanwhile, by role; nil if not measured. It becomes Sample.CPU.
	Spent map[string]time.Duration `json:"-"`
	// Opening is part of the run and of Spent, but of no figure of processor time; nil if the clients had connected
	// before the run.
	Opening *Opening `json:"opening,omitempty"`
	// Index is the size of the primary key's index at the end, in bytes; nil if there is none.
	Index *int64 `json:"index_bytes,omitempty"`
	// Memory is that of the servers for all connections together, in bytes; nil if not measured.
	Memory *int64 `json:"memory_bytes,omitempty"`
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
	Name    string // unique within a plan: "SELECT 1, simple, 16 clients"
	Task    string // the name without the number of clients
	Clients int    // 0: not applicable
	Counts  string // name of an operation, plural: "statements"
	Group   string // the ratios of a group become one geometric mean
}

// WithClients is a workload with that many clients.
func WithClients(task string, clients int, counts, group string) Workload {
	return Workload{
		Name: task + ", " + Counted(clients, "client"), Task: task, Clients: clients, Counts: counts, Group: group,
	}
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
	// CPU is the processor time of each server, by role, its Opening included. Servers that cannot be watched are
	// missing.
	CPU map[string]time.Duration `json:"cpu_ns"`
}

// PerSecond is the throughput in operations per second.
func (s Sample) PerSecond() float64 { return float64(s.Operations) / s.Elapsed.Seconds() }

// WALEach is how many bytes of log PostgreSQL wrote for one operation, if measured.
func (s Sample) WALEach() (each float64, measured bool) {
	if s.WAL == nil {
		return 0, false
	}
	return float64(*s.WAL) / float64(s.Operations), true
}

// IndexBytes is the size of the primary key's index at the end, if there is one.
func (s Sample) IndexBytes() (size float64, measured bool) {
	if s.Index == nil {
		return 0, false
	}
	return float64(*s.Index), true
}

// MemoryEach is the memory of the servers for one connection in bytes, if measured.
func (s Sample) MemoryEach() (each float64, measured bool) {
	if s.Memory == nil {
		return 0, false
	}
	return float64(*s.Memory) / float64(s.Operations), true
}

// CPUEach is the processor time of a role for one operation, in microseconds and without the Opening, if measured.
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

// ServerCPUEach is the same for all servers together.
func (s Sample) ServerCPUEach() (each float64, measured bool) {
	for role := range s.CPU {
		if of, has := s.CPUEach(role); has && role != Self {
			each, measured = each+of, true
		}
	}
	return each, measured
}
