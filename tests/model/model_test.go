package model

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A search is one model in one world, perhaps without one of its guards. It visits every state.
type search struct {
	model string
	world []string // definitions: the world, and how long and how often
	lacks string   // the guard that is taken away; empty: none
	shows []string // what the counterexample has to say, in this order
}

const (
	lease    = "lease.pml"
	function = "function.pml"
)

// The worlds. Each is small enough for a search of seconds.
var (
	synchronous  = []string{"SYNCHRONOUS", "FAULTS=1"}
	asynchronous = []string{"ASYNCHRONOUS", "ACQUISITIONS=2"}
	onceLong     = []string{"ASYNCHRONOUS", "FAULTS=1", "LAST=6", "TICK=5"}
	copies       = []string{"COPIES"}
	restarts     = []string{"RESTARTS=1", "FAULTS=1", "ACQUISITIONS=2"}

	crashes = []string{"CRASHES", "FAULTS=1", "LAST=3"}
	sooner  = []string{"CRASHES", "FAULTS=1", "LAST=3", "TICK=3"}
	ahead   = []string{"CRASHES", "FAULTS=1", "LAST=3", "TICK=6"}
	started = []string{"CRASHES", "FAULTS=1", "LAST=3", "TICK=4"}
	longer  = []string{"CRASHES", "FAULTS=0", "LAST=4", "TICK=6"}
	clocks  = []string{"CLOCKS", "FAULTS=2", "LAST=2", "TICK=4"}
	once    = []string{"CLOCKS", "FAULTS=1", "LAST=2", "TICK=4"}
	order   = []string{"ORDER", "FAULTS=0", "LAST=4"}
	atWork  = []string{"CLOCKS", "AT_WORK", "FAULTS=1", "LAST=3", "TICK=4"}
)

var plain = []search{
	{model: lease, world: synchronous},
	{model: lease, world: asynchronous},
	{model: lease, world: onceLong},
	{model: lease, world: copies},
	{model: lease, world: append([]string{"SYNCHRONOUS"}, restarts...)},
	{model: lease, world: append([]string{"ASYNCHRONOUS"}, restarts...)},
	{model: function, world: crashes},
	{model: function, world: sooner},
	{model: function, world: ahead},
	{model: function, world: started},
	{model: function, world: longer},
	{model: function, world: once},
	{model: function, world: order},
	{model: function, world: atWork},
}

const (
	both   = "has issued IDs of that tick, too"
	twice  = "WRONG: an ID comes twice"
	tooLow = "WRONG: it is not above"
)

var broken = []search{
	{
		model: lease, world: synchronous, lacks: "NO_COMPARISON",
		shows: []string{"B takes the worker", "B issues an ID", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_ACKNOWLEDGEMENT",
		shows: []string{"a renewal of", "is lost, and", both},
	},
	{
		model: lease, world: synchronous, lacks: "NO_CLEAN_ANSWER",
		shows: []string{"its wait for the standby was cancelled", "failover", "takes the worker", both},
	},
	{
		model: lease, world: synchronous, lacks: "NO_START_AT_MARK",
		shows: []string{"A takes the worker", "B takes the worker", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_OWNER",
		shows: []string{"B takes the worker", "A renews", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_QUARANTINE",
		shows: []string{"B takes the worker at server 0", "A renews at server 1", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_GRACE",
		shows: []string{"B takes the worker at server 0", "A renews at server 1", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_CAP",
		shows: []string{"A renews at server 0", "B takes the worker at server 1", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_GATE",
		shows: []string{"A takes the worker", "failover", "has a new timeline", "B takes the worker", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_RESTART_QUARANTINE",
		shows: []string{"A takes the worker", "starts without knowing that", "B takes the worker", both},
	},
	{
		model: lease, world: asynchronous, lacks: "NO_STALE_RENEWAL",
		shows: []string{"failover", "B takes the worker", "failback", "A renews", both},
	},
	{
		model: lease, world: onceLong, lacks: "NO_SEAL",
		shows: []string{"A releases the worker", "A issues an ID", "A has released the worker before"},
	},
	{
		model: lease, world: copies, lacks: "NO_COPY_CHECK",
		shows: []string{"is copied", "takes the worker at server 0", "takes the worker at server 1", both},
	},
	{
		model: function, world: longer, lacks: "NO_DRAW_UNDER_LOCK",
		shows: []string{"sets lane 0 to tick 6", "sets lane 0 to tick 6", twice},
	},
	{
		model: function, world: crashes, lacks: "NO_TICK_ABOVE",
		shows: []string{"sets lane 0 to tick 5", "sets lane 0 to tick 5", twice},
	},
	{
		model: function, world: crashes, lacks: "NO_LOCK",
		shows: []string{"has the lock of lane 0", "has the lock of lane 0", twice},
	},
	{
		model: function, world: clocks, lacks: "NO_MARK_FIRST",
		shows: []string{"sets lane 0 to tick 4", "is sent back to START", "sets lane 0 to tick 4", twice},
	},
	{
		model: function, world: atWork, lacks: "NO_MARK_ON_THE_WAY",
		shows: []string{"sets lane 0 to tick 4", "is sent back to START", "sets lane 0 to tick 4", twice},
	},
	{
		model: function, world: sooner, lacks: "NO_START_BEYOND",
		shows: []string{"sets lane 0 to tick 3", "crash", "sets lane 0 to tick 3", twice},
	},
	{
		model: function, world: started, lacks: "NO_START_SLEEP",
		shows: []string{"sets lane 0 to tick 4", "crash", "sets lane 0 to tick 4", twice},
	},
	{
		model: function, world: ahead, lacks: "NO_AHEAD_LIMIT",
		shows: []string{"sets lane 0 to tick 6", "crash", "sets lane 0 to tick 6", twice},
	},
	{
		model: function, world: crashes, lacks: "NO_SHARE",
		shows: []string{"goes to the stand-in", "sets lane 1 to tick 5", "sets lane 0 to tick 5", twice},
	},
	{
		model: function, world: order, lacks: "NO_LOOK_AGAIN",
		shows: []string{"goes to the stand-in", "sets lane 1 to tick 6", tooLow},
	},
	{
		model: function, world: order, lacks: "NO_LOOK_IF_UNSEEN",
		shows: []string{"goes to the stand-in", "shows tick 6 in lane 1", "sets lane 0 to tick 5", tooLow},
	},
	{
		model: function, world: order, lacks: "NO_LOOK_IF_MOVED",
		shows: []string{"goes to the stand-in", "sets lane 0 to tick 5", "sets lane 1 to tick 7", tooLow},
	},
	{
		model: function, world: order, lacks: "NO_SHOW_FIRST",
		shows: []string{"shows tick 6 in lane 1", "shows tick 5 in lane 0", "A gets ID 6.0", tooLow},
	},
	{
		model: function, world: order, lacks: "NO_REST_WHILE_FRESH",
		shows: []string{"sets lane 0 to tick 5", "goes to the stand-in", "sets lane 1 to tick 7", tooLow},
	},
}

var models = []string{lease, function}

func TestInEachWorldTheModelsHold(t *testing.T) {
	for _, s := range plain {
		t.Run(s.model+" "+strings.Join(s.world, " "), func(t *testing.T) {
			t.Parallel()
			if story := s.run(t); story != "" {
				t.Errorf("the model finds a fault:\n%s", story)
			}
		})
	}
}

func TestWithoutAGuardAModelShowsWhatThatPrevents(t *testing.T) {
	for _, s := range broken {
		t.Run(s.lacks, func(t *testing.T) {
			t.Parallel()
			story := s.run(t)
			if story == "" {
				t.Fatal("the model finds no fault: this guard prevents nothing here")
			}
			rest := story
			for _, said := range s.shows {
				_, after, found := strings.Cut(rest, said)
				if !found {
					t.Fatalf("the counterexample does not say %q there:\n%s", said, story)
				}
				rest = after
			}
			t.Logf("without it, in world %s:\n%s", strings.Join(s.world, " "), story)
		})
	}
}

// guard is the definition that a guard is there unless it is taken away.
var guard = regexp.MustCompile(`(?m)^#ifndef (NO_\w+)$`)

func TestEachGuardThatAModelCanLackIsTakenAway(t *testing.T) {
	for _, model := range models {
		taken := map[string]bool{}
		for _, s := range broken {
			taken[s.lacks] = taken[s.lacks] || s.model == model
		}
		guards := guard.FindAllStringSubmatch(read(t, model), -1)
		if len(guards) < 8 {
			t.Errorf("%s has %d guards; expected more", model, len(guards))
		}
		for _, found := range guards {
			if !taken[found[1]] {
				t.Errorf("%s has %s, and no search takes it away", model, found[1])
			}
		}
	}
}

// named is a line of code that a step of a model stands for.
var named = regexp.MustCompile(`/\* ([\w/]+\.(?:sql|go)): (.+) \*/`)

func TestEachLineOfCodeThatAStepNamesStandsInItsFile(t *testing.T) {
	for _, model := range models {
		found := named.FindAllStringSubmatch(read(t, model), -1)
		if len(found) < 20 {
			t.Errorf("%s names %d lines; expected many more", model, len(found))
		}
		for _, f := range found {
			if !strings.Contains(read(t, "../../"+f[1]), f[2]) {
				t.Errorf("%s names a line that is not in %s, so look whether the step is still right: %s",
					model, f[1], f[2])
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run visits every state. It returns the shortest way to one that breaks an assertion, or nothing.
func (s search) run(t *testing.T) string {
	t.Helper()
	needs(t, "spin", "cc")
	begin := time.Now()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, s.model), []byte(read(t, s.model)), 0o600); err != nil {
		t.Fatal(err)
	}
	var defines []string
	for _, defined := range slices.Concat(s.world, []string{s.lacks}) {
		if defined != "" {
			defines = append(defines, "-D"+defined)
		}
	}
	do(t, folder, "spin", slices.Concat(defines, []string{"-a", s.model})...)
	// The nearest states first, so that a counterexample is short.
	do(t, folder, "cc", "-O1", "-DBFS", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=3000", "-o", "search", "pan.c")
	said := do(t, folder, "./search", "-E")
	result := regexp.MustCompile(`errors: (\d+)\s+(\d+) states, stored`).FindStringSubmatch(said)
	if result == nil || strings.Contains(said, "memory limit") || strings.Contains(said, "not completed") &&
		result[1] == "0" {
		t.Fatalf("the search is not complete:\n%s", said)
	}
	t.Logf("%s states, %v", result[2], time.Since(begin).Round(10*time.Millisecond))
	if result[1] == "0" {
		return ""
	}
	replayed := do(t, folder, "spin", slices.Concat(defines, []string{"-t", "-T", s.model})...)
	// Two files that are made within a few milliseconds may have their times in the other order.
	replayed = regexp.MustCompile(`(?m)^spin: warning, .* is newer than .*\n`).ReplaceAllString(replayed, "")
	story, _, _ := strings.Cut(replayed, "spin: ")
	if story == "" {
		t.Fatalf("there is a counterexample, but its replay says:\n%s\nafter the search said:\n%s", replayed, said)
	}
	return story
}

// do runs a program and returns what it says.
func do(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = folder
	said, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, said)
	}
	return string(said)
}

// needs skips the test unless it is asked for. Then the programs have to be there.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_SPIN") == "" {
		t.Skip("set PGFLURRY_TEST_SPIN=1 to search the models, which takes half a minute")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: Debian's packages spin, gcc and libc6-dev have what this test needs", err)
		}
	}
}
