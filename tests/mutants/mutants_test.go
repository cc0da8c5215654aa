package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mutant is one guard, and the code without it.
type mutant struct {
	guard    string
	file     string // from the root of the module
	from, to string
	times    int    // how often from stands in the file; 0: once
	test     string // -run; empty: the histories
	in       string // package of the test; empty: tests/simulation
}

var mutants = []mutant{
	{
		guard: "acknowledged before raised: what was asked for is not what was granted",
		file:  "internal/lease/protocol.go",
		from:  "h.bound.Until, h.reserve = r.Until, asked.Window",
		to:    "h.bound.Until, h.reserve = max(r.Until, asked.Wanted), asked.Window",
	},
	{
		guard: "acknowledged before raised: an unknown outcome raises nothing", file: "internal/lease/keeper.go",
		from: "default:\n\t\tk.protocol.unknownRenew(err, received)",
		to: "default:\n\t\tk.protocol.unknownRenew(err, received); " +
			"_ = k.grant(Grant{r.Worker, k.protocol.held.bound.From, max(r.Wanted, r.Acknowledged)}, r.Term, false)",
	},
	{
		guard: "a notice is a failure", file: "internal/lease/acknowledge/acknowledge.go",
		from: "if len(x.notices) > 0 {", to: "if false {",
	},
	{
		guard: "the tags must be right", file: "internal/lease/acknowledge/acknowledge.go",
		from: "if !slices.Equal(tags, acknowledgedTags) {", to: "if false && !slices.Equal(tags, acknowledgedTags) {",
	},
	{
		guard: "seal before release", file: "internal/lease/keeper.go",
		from: "\tdefer k.issuer.Seal()\n", to: "",
	},
	{
		guard: "the mark is a bound on the way out", file: "generator/generator.go",
		from: "tick >= g.from && tick < g.until }", to: "tick >= g.from }",
	},
	{
		guard: "the mark's own tick is beyond the bound", file: "generator/generator.go",
		from: "tick >= g.from && tick < g.until }", to: "tick >= g.from && tick <= g.until }",
	},
	{
		guard: "the mark is a bound on the short way", file: "generator/generator.go",
		from: "if grant.covers(now) {", to: "if grant.until != 0 {",
		test: "Invariant", in: "generator",
	},
	{
		guard: "the short way goes on in the worker's own tick alone", file: "generator/generator.go",
		from: "g.used(last, grant, now) < g.maxSequence {", to: "last&g.maxSequence < g.maxSequence {",
		test: "Invariant", in: "generator",
	},
	{
		guard: "the short way ends with the sequence", file: "generator/generator.go",
		from: "g.used(last, grant, now) < g.maxSequence {", to: "g.used(last, grant, now) <= g.maxSequence {",
		test: "Invariant", in: "generator",
	},
	{
		guard: "no ID has tick 0", file: "generator/generator.go",
		from: "from: max(from, 1),", to: "from: from,",
		test: "Invariant", in: "generator",
	},
	{
		guard: "however long a window, the lease is renewed soon", file: "internal/lease/protocol.go",
		from: "min(max(p.length(reserved)/3, renewBackoff), longestPause)",
		to:   "max(p.length(reserved)/3, renewBackoff)",
		test: "AWindowOfAnHour", in: "tests/simulation",
	},
	{
		guard: "a renewal does not reach back behind from", file: "internal/lease/protocol.go",
		from: "return h.bound\n", to: "return Grant{Worker: h.Worker, Until: h.bound.Until}\n",
	},
	{
		guard: "from is a bound: in a tick entered by the clock", file: "generator/generator.go",
		from: "case tick < now && grant.from <= now:", to: "case tick < now:",
		test: "Invariant", in: "generator",
	},
	{
		guard: "from is a bound: in a tick that was begun or overflowed", file: "generator/generator.go",
		from: "oldest := max(grant.from, now-maxLag)", to: "oldest := now - maxLag",
		test: "Invariant", in: "generator",
	},
	{
		guard: "another worker begins in a tick of its own", file: "generator/generator.go",
		from: "same := used <= g.maxSequence", to: "same := used >= 0",
		test: "Invariant", in: "generator",
	},
	{
		guard: "nothing after the seal", file: "generator/generator.go",
		from: "\t\tif state == sealed {\n", to: "\t\tif false {\n",
	},
	{
		guard: "an ID is issued by a swap that one alone wins", file: "generator/generator.go",
		from: "{ return g.state.CompareAndSwap(state, next) }", to: "{ g.state.Store(next); return true }",
		test: "Invariant", in: "generator",
	},
	{
		guard: "a fresh owner for each acquisition", file: "internal/lease/keeper.go",
		from: "newOwner: newOwner,", to: "newOwner: func() string { return \"00000000-0000-4000-8000-000000000001\" },",
	},
	{
		guard: "a renewal sends what was acknowledged, so that a lost commit is noticed",
		file:  "internal/lease/protocol.go",
		from:  "Acknowledged: h.bound.Until,", to: "Acknowledged: 0,",
		test: "Invariant1", in: "internal/lease",
	},
	{
		guard: "a release sends what was acknowledged, so that a forgotten mark comes back",
		file:  "internal/lease/keeper.go",
		from:  "Release(ctx, h.Lease, h.bound.Until)", to: "Release(ctx, h.Lease, h.bound.From)", times: 2,
		test: "AReleaseSends", in: "internal/lease",
	},
	{
		guard: "the grant of a closed database is taken back", file: "internal/lease/keeper.go",
		from: "\tk.issuer.Revoke()\n", to: "",
	},
	{
		guard: "an address with two databases costs one worker in the time that one rests",
		file:  "internal/lease/protocol.go",
		from:  "\t\tp.due = max(now, h.since+h.rest)\n", to: "",
		test: "ByTurns",
	},
	{
		guard: "a grant is never shortened", file: "internal/lease/keeper.go",
		from: "g.Worker == last.Worker && g.Until < last.Until {", to: "false {",
		test: "SecondFault",
	},
	{
		guard: "a clock that is ahead is slowed, not set back", file: "internal/lease/clock.go",
		from: "\t\t\tnext.shown = shown\n\t\t}", to: "\t\t}",
		test: "NineTenths|Invariant7", in: "internal/lease",
	},
	{
		guard: "each look asks whether the database is of the namespace", file: "internal/namespace/answerable.go",
		from: "case n.ID != wantID:", to: "case false:",
		test: "WhoseNameGoes", in: "internal/node",
	},
	{
		guard: "seal before release, in a program of the user's", file: "internal/lease/keeper.go",
		from: "\tdefer k.issuer.Seal()\n", to: "",
		test: "Invariant3", in: "inprocess",
	},
	{
		guard: "a call without a grant waits", file: "inprocess/generator.go",
		from: "if !passes(err) || ctx.Err() != nil {", to: "if true {",
		test: "Invariant2", in: "inprocess",
	},
	{
		guard: "… until there is one", file: "inprocess/session.go",
		from: "(worker, from, until)\n\tt.news.notify()\n", to: "(worker, from, until)\n",
		test: "Invariant2", in: "inprocess",
	},
	{
		guard: "… unless no wait helps", file: "inprocess/generator.go",
		from: "return refusal.Reason != lease.Copy &&", to: "return true ||",
		test: "Invariant2", in: "inprocess",
	},
	{
		guard: "after Close there is no ID", file: "inprocess/lifecycle.go",
		from: "g.state.Swap(&state{why: why}).session", to: "g.state.Load().session",
		test: "Invariant3", in: "inprocess",
	},
	{
		guard: "a reading that calculates nothing ends with the tick", file: "internal/lease/clock.go",
		from: "(tick+1)*c.unit-micros)", to: "(tick+2)*c.unit-micros)",
		test: "Invariant7", in: "internal/lease",
	},
	{
		guard: "… and with its course", file: "internal/lease/clock.go",
		from: "next.lasts.Store(math.MinInt64)", to: "next.lasts.Store(int64(now) + min(c.unit*1000, math.MaxInt64))",
		test: "Invariant7|Replaced", in: "internal/lease",
	},
}

// inSQL has rules of statements and functions in the database that show only in a whole story. Rules of a draw have
// their mutants in tests/database, and rules of the lease's statements in tests/support/rows.
var inSQL = []mutant{
	{
		guard: "a name-sake waits for the worker of its name as everybody does",
		file:  "internal/lease/acquire.sql", times: 2,
		from: "w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL " +
			"THEN 0 ELSE ns.rest END <= ns.now",
		to: "(w.node = $3::text OR w.reserved_until + CASE WHEN w.term = 0 " +
			"OR w.released_at IS NOT NULL THEN 0 ELSE ns.rest END <= ns.now)",
		test: "HashOfTheHostName", in: "tests/unique",
	},
	{
		guard: "a copy that has been told what it is begins at the START of its lane", file: "sqlfuncs/identity.sql",
		from: "    PERFORM setval(seqrelid, seqstart) FROM pg_sequence\n" +
			"        WHERE seqrelid IN (to_regclass('pgflurry.lane'), to_regclass('pgflurry.lane_stand_in'));\n",
		to:   "",
		test: "LeavesALaneThatIsAhead", in: "tests/unique",
	},
	{
		guard: "a fresh worker gives no ID of a tick that only the old mark covers",
		file:  "internal/namespace/decide/queries.sql",
		from:  "CALL pgflurry.begin_anew(false);\n", to: "",
		test: "AFreshWorkerGivesNoID", in: "tests/unique",
	},
	{
		guard: "a copy that begins an ID space has a claim of its own", file: "sqlfuncs/identity.sql",
		from: " claim = gen_random_uuid(),", to: "",
		test: "TheReplicaOfACopy", in: "tests/regions",
	},
	{
		guard: "a dump without the rows leaves no lane for another layout", file: "sqlfuncs/namespace.sql",
		from: "DROP SEQUENCE IF EXISTS pgflurry.lane, pgflurry.lane_stand_in;", to: "",
		test: "ADumpWithoutTheRows", in: "tests/unique",
	},
	{
		guard: "a claim from another address is asked about", file: "internal/namespace/decide/queries.sql",
		from: "forgotten OR here OR $8,", to: "forgotten OR here OR $8 OR true,",
		test: "Invariant5", in: "tests/unique",
	},
}

// inTable has rules of the SQL, changed in the table that the histories use instead. Without any one of them IDs could
// come twice. tests/support/rows proves that the SQL has these rules, and others whose absence shows only in rarer
// histories.
var inTable = []mutant{
	{
		guard: "SQL, acquire: only after the mark",
		from:  " || t.free(r, a) > t.Now {", to: " {",
	},
	{
		guard: "SQL, acquire: quarantine of a worker that was not released",
		from:  "return r.Mark + t.Quarantine", to: "return r.Mark",
		test: "TakeOverThatWasForgotten",
	},
	{
		guard: "SQL, acquire: the grant begins at the mark or later",
		from:  "r.Term, t.Now, r.Mark}", to: "r.Term, t.Now - 10000, r.Mark}",
	},
	{
		guard: "SQL, acquire: quarantine, the skew included",
		from:  "return r.Mark + t.Quarantine", to: "return r.Mark + t.Quarantine - t.Skew",
		test: "TakeOverThatWasForgotten",
	},
	{
		guard: "SQL, acquire: timeline gate, at once",
		from:  "t.Copied || t.moved() ||", to: "t.Copied ||",
	},
	{
		guard: "SQL, acquire: timeline gate, for the quarantine",
		from:  " || t.gate(a) > t.Now ||", to: " ||",
	},
	{
		guard: "SQL, acquire: timeline gate, as long as the longest grant, the skew included",
		from:  "t.AcquireAfter = max(t.AcquireAfter, t.Now+t.Quarantine)\n}",
		to:    "t.AcquireAfter = max(t.AcquireAfter, t.Now+t.Quarantine-t.Skew)\n}",
		test:  "GateLasts",
	},
	{
		guard: "SQL, acquire: who knows of a longer window than the row waits for longer, at the gate",
		from:  "return t.AcquireAfter + t.lack(a)", to: "return t.AcquireAfter",
		test: "ForgetsThatWindows",
	},
	{
		guard: "SQL, renew: owner and term",
		from:  "taken := before.Owner != n.Owner || before.Term != n.Term ||", to: "taken :=",
	},
	{
		guard: "SQL, renew: the mark never falls",
		from:  "r.Mark = max(r.Mark, min(n.Wanted, t.End, limit))", to: "r.Mark = min(n.Wanted, t.End, limit)",
	},
	{
		guard: "SQL, renew: cap",
		from:  "limit := max(", to: "limit := max(n.Wanted, ",
	},
	{
		guard: "SQL, renew: not after others might have had it",
		from:  "before.Mark+t.Quarantine-t.Skew <= t.Now || ", to: "",
		test: "TakeOverThatWasForgotten",
	},
	{
		guard: "SQL, renew: … by a clock that was ahead by the skew",
		from:  "before.Mark+t.Quarantine-t.Skew <= t.Now", to: "before.Mark+t.Quarantine <= t.Now",
		test: "TakeOverThatWasForgotten",
	},
	{
		guard: "SQL, renew: not after another server might have granted it",
		from:  " || t.stale(&before)", to: "",
		test: "FormerPrimary",
	},
	{
		guard: "SQL, renew: … which may have started without a new timeline",
		from:  "min(t.Quarantine, t.settling(0))", to: "t.Quarantine",
		test: "FormerPrimary",
	},
	{
		guard: "SQL, renew: not in a closed database",
		from:  "matches && !t.Closed && ", to: "matches && ",
	},
	{
		guard: "SQL, acquire: not in a closed database",
		from:  "t.Closed || t.settled(a) > t.Now {", to: "t.settled(a) > t.Now {",
	},
	{
		guard: "SQL, acquire: nothing after a start of the server",
		from:  "t.Closed || t.settled(a) > t.Now {", to: "t.Closed {",
		test: "JustStarted",
	},
	{
		guard: "SQL, acquire: … as long as the longest grant, the skew included",
		from:  "max(t.MaxWindow, longest) + 2*t.Skew", to: "max(t.MaxWindow, longest) + t.Skew",
		test: "JustStarted",
	},
}

// drawnByRapid are the packages whose tests know rapid's flags.
var drawnByRapid = []string{"tests/simulation", "generator", "internal/lease", "proxy/internal/conversation"}

// histories matches the tests of tests/simulation that hold the invariants.
const histories = "TestInvariants"

// all returns each mutant, whole.
func all() (list []mutant) {
	for _, m := range inTable {
		m.file = "tests/support/rows/rows.go"
		list = append(list, m)
	}
	for _, m := range inConversation {
		if m.in == "" {
			m.in = "proxy/internal/conversation"
		}
		if m.test == "" {
			m.test = "AConversation"
		}
		list = append(list, m)
	}
	return slices.Concat(mutants, inSQL, list)
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEachMutantFitsTheCode(t *testing.T) {
	for _, m := range all() {
		if _, _, err := m.text(root(t)); err != nil {
			t.Errorf("%s: %v", m.guard, err)
		}
	}
}

func TestEachGuardThatIsTakenAwayIsNoticed(t *testing.T) {
	if os.Getenv("PGFLURRY_TEST_MUTANTS") != "1" {
		t.Skip("compiles the core many times, in a minute or two: set PGFLURRY_TEST_MUTANTS=1, as .ci/run does")
	}
	root := root(t)
	list := all()
	died := make([]string, len(list))
	t.Run("guard", func(t *testing.T) { // ends when all have ended
		for i, m := range list {
			t.Run(m.guard, func(t *testing.T) {
				t.Parallel() // linking and the histories use one processor each
				var err error
				if died[i], err = m.run(root, t.TempDir()); err != nil {
					t.Error(err)
				}
			})
		}
	})
	var report strings.Builder
	for i, m := range list {
		if died[i] != "" {
			fmt.Fprintf(&report, "\n%-75s %s", m.guard, died[i])
		}
	}
	t.Logf("each guard taken away, and what noticed:%s", report.String())
}

// text returns the path of the mutant's file, and what stands there without the guard.
func (m mutant) text(root string) (path, mutated string, err error) {
	path = filepath.Join(root, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	if n := strings.Count(string(text), m.from); n != max(m.times, 1) {
		return "", "", fmt.Errorf("%q stands %d times in %s, expected %d: the mutant no longer fits",
			m.from, n, m.file, max(m.times, 1))
	}
	return path, strings.ReplaceAll(string(text), m.from, m.to), nil
}

// run lays the mutant over the code and runs its test, which must fail. died says how soon it failed.
func (m mutant) run(root, dir string) (died string, err error) {
	path, text, err := m.text(root)
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutated}})
	if err != nil {
		return "", err
	}
	err = errors.Join(
		os.WriteFile(mutated, []byte(text), 0o644),
		os.WriteFile(overlay, replace, 0o644),
	)
	if err != nil {
		return "", err
	}
	test, in := m.test, m.in
	if test == "" {
		test = histories
	}
	if in == "" {
		in = "tests/simulation"
	}
	args := []string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-run", test, "pgflurry/" + in}
	if slices.Contains(drawnByRapid, in) { // for most mutants any seed does; one seed makes each run find the same
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=0s", "-rapid.seed=3")
	}
	command := exec.Command("go", args...)
	command.Dir = root
	out, err := command.CombinedOutput()
	switch {
	case err == nil:
		return "", fmt.Errorf("nothing noticed: %s in %s passes", test, in)
	case !strings.Contains(string(out), "--- FAIL: ") && !strings.Contains(string(out), "panic: "):
		return "", fmt.Errorf("the test did not fail, it could not run:\n%s", out)
	}
	return summary(string(out)), nil
}

var (
	history = regexp.MustCompile(`history (\d+), after (\S+): (.*)`)
	byRapid = regexp.MustCompile(`failed after (\d+) tests: (.*)`)
	failed  = regexp.MustCompile(`--- FAIL: (\S+) \((\S+)\)`)
)

// summary reads from the output how many histories ran, how long that took, and what broke.
func summary(out string) string {
	if m := history.FindStringSubmatch(out); m != nil {
		return fmt.Sprintf("%4s histories %9s  %.60s", m[1], m[2], m[3])
	}
	if m := byRapid.FindStringSubmatch(out); m != nil {
		return fmt.Sprintf("%4s histories            %.60s", m[1], m[2])
	}
	if m := failed.FindStringSubmatch(out); m != nil {
		return fmt.Sprintf("               %9s  %.60s", m[2], m[1])
	}
	return "a panic"
}
