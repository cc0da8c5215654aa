package admin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"pgflurry/internal/report"
)

// A scripted node shows the state that a test gives it.
type scripted struct {
	mu      sync.Mutex
	state   report.State
	decoded report.Decoded
	history map[int][]report.Tenure
	failed  error // of History
}

func (n *scripted) State() report.State {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state
}

// become changes the state.
func (n *scripted) become(s report.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state = s
}

func (n *scripted) Decode(id string) (report.Decoded, error) {
	if strconv.FormatInt(n.decoded.ID, 10) != id {
		return report.Decoded{}, errors.New(strconv.Quote(id) + " is no ID: its time is after the layout's end")
	}
	return n.decoded, nil
}

func (n *scripted) History(_ context.Context, worker int) ([]report.Tenure, error) {
	return n.history[worker], n.failed
}

// now is the time of all states in these tests.
var now = time.Date(2026, time.March, 14, 9, 26, 53, 0, time.UTC)

// healthy is a node in a busy namespace of 1,024 workers.
func healthy() report.State {
	return report.State{
		At: now, Started: now.Add(-53 * time.Hour), Version: "devel", Name: "shop-proxy-2", Address: "10.0.4.12:6432",
		Upstream: "db-1.shop.internal:5432", Listening: true,
		Namespace: report.Namespace{
			ID: "6f1d2c1e-3a52-4b7e-9a51-0a1f6c8e22d7", Layout: "41/0/10/12",
			End: time.Date(2093, time.September, 6, 15, 47, 35, 0, time.UTC), Workers: 1024,
			Functions: report.Spans{{First: 0, Last: 15}},
		},
		Lease: report.Lease{
			Held: true, Worker: 137, Granted: true, Reserve: 52 * time.Second, Window: time.Minute,
			Renewed: now.Add(-4 * time.Second),
		},
		Clock:   report.Clock{Known: true, Offset: 3 * time.Millisecond, RoundTrip: 640 * time.Microsecond},
		Workers: workers(1024),
		Answers: report.Answers{
			IDs: 418_224_907, Numbers: 90_210,
			ByKind:   map[string]int64{"snowflake": 388_002_114, "snowflakes": 30_210, "segment": 90_210},
			Declined: map[string]int64{"no_lease": 0, "tick_full": 40},
		},
		Sessions: report.Sessions{Open: map[string]int{"idle": 148, "in_transaction": 23, "login": 1}, Limit: 400},
		Databases: []report.Database{
			{
				Name: "shop", IDs: "all", Segments: "all",
				Judged: now.Add(-3 * time.Second), Found: now.Add(-3 * time.Second),
			},
			{Name: "billing", IDs: "all", Segments: "all", Judged: now.Add(-2 * time.Second)},
			{
				Name: "reports", IDs: "qualified", Segments: "all", Judged: now.Add(-4 * time.Second),
				IDsWhy:  "another function next_snowflake() exists: legacy.next_snowflake()",
				IDsHint: "Call public.next_snowflake(), or drop the other one.",
			},
		},
		Segments: []report.Segment{
			{Database: "billing", Tag: "invoice", Left: 1_312, Given: 48_688, Fetches: 26},
			{Database: "billing", Tag: "credit note", Left: 870, Given: 1_130, Skipped: 2_000, Fetches: 2},
			{Database: "shop", Tag: "order", Left: 3_608, Given: 40_392, Fetches: 12},
		},
		Reloaded:     now.Add(-53 * time.Hour),
		Certificates: []report.Certificate{{File: "/etc/pgflurry/tls/server.crt", Until: now.AddDate(0, 2, 11)}},
	}
}

// idDatabase is an ID database in use.
func idDatabase() report.IDDatabase {
	return report.IDDatabase{
		Name: "pgflurry", Limit: 10_000, IDs: 12_408_113, Numbers: 30_551,
		Open:   map[string]int{"login": 4, "idle": 8_190, "in_transaction": 31, "failed": 1},
		ByKind: map[string]int64{"snowflake": 11_902_004, "snowflakes": 4_110, "segment": 30_551},
		Logins: map[string]int64{
			"ok": 40_118, "password": 12, "attempts": 3, "limit": 0, "unready": 0, "refused": 2, "left": 9,
		},
		Refused: map[string]int64{"no_ids": 0, "not_supported": 17, "other": 4},
		Accounts: report.Accounts{
			Needed: true, Count: 41, From: "pgflurry.client", Read: now.Add(-3 * time.Second), MaxAge: time.Hour,
		},
	}
}

// workers is a table in use. Proxies hold about every tenth number. Some numbers rest, two are retired, and some belong
// to functions.
func workers(total int) report.Workers {
	w := report.Workers{Read: now.Add(-5 * time.Second), Counts: map[string]int{}}
	for i, name := range []string{"shop", "billing", "reports"} {
		w.Rows = append(w.Rows, report.Worker{Number: i, State: "function", Node: name})
	}
	for n := 16; n < total; n++ {
		row := report.Worker{
			Number: n, Term: int64(1 + n%5), Version: "devel", Acquired: now.Add(-time.Duration(n) * time.Minute),
			Node: fmt.Sprintf("shop-proxy-%d", n%40), Address: fmt.Sprintf("10.0.%d.%d:6432", n%9, n%250),
		}
		left := time.Duration(40+n%20) * time.Second
		switch drawn := mixed(n) % 100; {
		case n == 137:
			row.State, row.Node, row.Address, left = "mine", "shop-proxy-2", "10.0.4.12:6432", 52*time.Second
			row.Renewed = now.Add(-4 * time.Second)
		case n == 404 || n == 77:
			row.State, row.Retired, left = "retired", now.AddDate(0, -1, 0), -24*30*time.Hour
		case drawn < 8:
			row.State, row.Renewed = "held", now.Add(-time.Duration(n%20)*time.Second)
		case drawn < 10:
			row.State, left = "resting", -20*time.Second
		default:
			w.Counts["free"]++
			continue
		}
		row.Left = &left
		w.Rows = append(w.Rows, row)
		w.Counts[row.State]++
	}
	w.Counts["held"]++ // mine
	return w
}

// mixed spreads numbers evenly, and the same way in each run.
func mixed(n int) uint32 {
	x := uint32(n) * 2_654_435_761
	x ^= x >> 15
	x *= 2_246_822_519
	return x ^ x>>13
}

// earlier is a state some seconds earlier: its counters are smaller.
func earlier(s report.State, seconds int) report.State {
	at := float64(600 - seconds)
	wave := func(period, phase float64) float64 { return math.Sin(at/period + phase) }
	s.At = s.At.Add(-time.Duration(seconds) * time.Second)
	s.Answers.IDs += int64(1_800*(at-600) + 9_000*wave(70, 0) + 2_500*wave(19, 1) + 700*wave(7, 2))
	s.Answers.ByKind = map[string]int64{"snowflake": s.Answers.IDs * 9 / 10}
	s.Answers.Declined = map[string]int64{"tick_full": int64(min(max(at-380, 0), 40))}
	s.Sessions.Open = map[string]int{
		"idle": 148 + int(math.Round(8*wave(90, 1)-8*math.Sin(600./90+1))), "in_transaction": 23, "login": 1,
	}
	return s
}
