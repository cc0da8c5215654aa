package trial

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestStatIsReadWhateverTheProcessIsCalled(t *testing.T) {
	s, err := parseStat("42 (a) S 1 (b) S 7 42 42 0 -1 4194304 99 0 0 0 10 20 3 4 20 0 1 0 48776")
	if err != nil || s != (procStat{parent: 7, reaped: 7, started: 48776}) {
		t.Errorf("%+v, error %v; expected parent 7, 7 ticks of children that have ended, and the start", s, err)
	}
	if _, err := parseStat("42 (a) S 1"); err == nil {
		t.Error("a line that was cut off was read")
	}
}

func TestTheTimeOfAProcessIncludesThoseBelowIt(t *testing.T) {
	// A shell burns time in a child that it waits for, then in one that begins at a line and lives on. Each line of
	// output says that one is done.
	burn := `i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done`
	shell := exec.Command("sh", "-c", `sh -c '`+burn+`'; echo; sh -c 'read begin; `+burn+`; echo; read end'; true`)
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = shell.Wait() })
	var before time.Duration
	for line := range 2 {
		if _, err := stdout.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		spent, err := thisSystem().treeCPU(shell.Process.Pid)
		if err != nil || spent <= before {
			t.Fatalf("after child %d the tree has spent %v, before %v (error %v)", line+1, spent, before, err)
		}
		before = spent
		if _, err := stdin.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
	}
	if spent, err := thisSystem().treeCPU(os.Getpid()); err != nil || spent%tick == 0 {
		t.Errorf("%v, error %v; expected a part of %v too, since this process lives", spent, err, tick)
	}
	if _, err := thisSystem().treeCPU(1 << 30); err == nil {
		t.Error("a process that is not there has a time")
	}
}

func TestConnectingAndLeavingAreInNoFigureOfProcessorTime(t *testing.T) {
	burn := func() {
		began, err := thisSystem().treeCPU(os.Getpid())
		for now := began; err == nil && now < began+100*time.Millisecond; {
			now, err = thisSystem().treeCPU(os.Getpid())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	turn := func(outside, inside func()) Turn {
		return func(_ context.Context, d time.Duration, measure Measure) (Count, error) {
			outside()
			defer outside()
			return measure(func() (Count, error) {
				inside()
				return Count{Operations: 1, Elapsed: d}, nil
			})
		}
	}
	p := Plan{Rounds: 1, Duration: time.Second, Trials: []Trial{
		{Contender: "outside", Run: turn(burn, func() {})}, {Contender: "inside", Run: turn(func() {}, burn)},
	}}
	for _, trial := range p.Trials {
		p.WatchProcess(trial.Contender, Database, os.Getpid())
	}
	samples, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		each, measured := s.CPUEach(Database)
		if !measured || (each >= 100_000) != (s.Contender == "inside") {
			t.Errorf("100 ms %s the measured part: %.0f µs", s.Contender, each)
		}
	}
}
