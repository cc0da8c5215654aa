package trial

import (
	"context"
	"fmt"
	"time"
)

// The roles of processes that are watched.
const (
	Middle   = "middle"   // what stands in front of PostgreSQL
	Database = "database" // PostgreSQL
	Self     = "self"     // this process; a turn has it in Count.Spent, and nothing is watched
)

// The names of the mean and of the longest beside those of the percentiles in Count.Latency.
const (
	Mean = "mean"
	Max  = "max"
)

// Count is what one run of a trial did.
type Count struct {
	Operations int64         `json:"operations"` // of what the workload counts
	Elapsed    time.Duration `json:"elapsed_ns"` // without connecting
	// Latency has percentiles of the time of a round trip, by name ("p99"); nil if they were not taken.
	Latency map[string]time.Duration `json:"latency_ns,omitempty"`
	// WAL is how many bytes PostgreSQL wrote to its log meanwhile; nil if that was not looked at.
	WAL *int64 `json:"wal_bytes,omitempty"`
	// Spent is the processor time that was taken meanwhile, by role; nil if none was. It becomes Sample.CPU.
	Spent map[string]time.Duration `json:"-"`
	// Opening is in the run and in Spent, but in no figure of processor time; nil if the clients had connected before
	// the run.
	Opening *Opening `json:"opening,omitempty"`
	// Index is the size of the primary key's index at the end, in bytes; nil if there was none.
	Index *int64 `json:"index_bytes,omitempty"`
	// Memory is what the servers have for all connections that the operations are, in bytes; nil if that was not looked
	// at.
	Memory *int64 `json:"memory_bytes,omitempty"`
}

// Opening is what a driver that connects within its run took for the same clients to connect, do the work once each,
// and leave, in a run of its own right before.
type Opening struct {
	Operations int64                    `json:"operations"`
	CPU        map[string]time.Duration `json:"cpu_ns"` // by role
}

// Measure runs work and takes the processor time that the watched servers spend meanwhile, into Count.Spent. It waits
// until the processes that came meanwhile have gone, so that none of their time is left to whoever comes next.
type Measure func(work func() (Count, error)) (Count, error)

// Unwatched is the Measure that takes nothing.
func Unwatched(work func() (Count, error)) (Count, error) { return work() }

// Turn works for about d, and not at all longer than it needs to finish what it began. It does that within measure;
// what its clients need before, a connection and caches that are warm, and what they leave behind, is outside.
type Turn func(ctx context.Context, d time.Duration, measure Measure) (Count, error)

// Workload is what is to be done, by every contender alike.
type Workload struct {
	Name    string // unique within a plan: "SELECT 1, simple, 16 clients"
	Task    string // the name without the number of clients
	Clients int    // 0 if it has no such number
	Counts  string // an operation, plural: "statements"
	Group   string // workloads whose ratios are folded into one geometric mean
}

// WithClients is a workload of so many clients.
func WithClients(task string, clients int, counts, group string) Workload {
	return Workload{
		Name: task + ", " + Counted(clients, "client"), Task: task, Clients: clients, Counts: counts, Group: group,
	}
}

// Counted is a number and what it counts: "1 client", "2 clients".
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
	Through   bool // a server in front of PostgreSQL
	Run       Turn
}

// Sample is one run of a trial.
type Sample struct {
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Round     int    `json:"round"` // from 1
	Count
	// CPU is the processor time that each server spent on it, by role, its Opening included; a server that cannot be
	// watched is missing.
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

// MemoryEach is how many bytes of memory the servers have for one connection, if that was looked at.
func (s Sample) MemoryEach() (each float64, measured bool) {
	if s.Memory == nil {
		return 0, false
	}
	return float64(*s.Memory) / float64(s.Operations), true
}

// CPUEach is the processor time of a role for one operation, in microseconds and without the Opening,
// if it was measured.
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
