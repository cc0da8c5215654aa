package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pgflurry/bench"
	"pgflurry/bench/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process as if nobody had listened
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "inprocess: "+err.Error())
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	out              string
	goroutines       []int
	rounds           int
	duration, warmUp time.Duration
	seed             uint64
}

func parse(args []string, help io.Writer) (settings, error) {
	s := settings{goroutines: []int{1, 2, 8}}
	f := flag.NewFlagSet("inprocess", flag.ContinueOnError)
	f.SetOutput(help)
	f.StringVar(&s.out, "out", "", "folder for results.md, results.json and charts, made if absent (default: they are not written)")
	f.Func("goroutines", "numbers of goroutines (default 1,2,8)", func(text string) (err error) {
		s.goroutines, err = numbers(text)
		return err
	})
	f.IntVar(&s.rounds, "rounds", 9, "how often each contender has its turn at each workload")
	f.DurationVar(&s.duration, "duration", 300*time.Millisecond, "how long a turn takes")
	f.DurationVar(&s.warmUp, "warm-up", 100*time.Millisecond, "how long a turn takes in the round before the first, which does not count; 0 for none")
	f.Uint64Var(&s.seed, "seed", rand.Uint64(), "decides the order of the turns (default: a random one, which is printed)")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("%q is left over; expected flags alone", f.Args())
	case s.rounds < 1:
		return s, fmt.Errorf("--rounds is %d; expected at least 1", s.rounds)
	case s.duration <= 0 || s.warmUp < 0:
		return s, fmt.Errorf("--duration is %v and --warm-up %v; expected more than 0, and 0 or more", s.duration, s.warmUp)
	}
	return s, nil
}

func numbers(text string) (all []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > 1000 {
			return nil, fmt.Errorf("%q is no number from 1 to 1000; expected some of them, such as 1,2,8", part)
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all, nil
}

// run measures and writes. What is finished is written even if it fails or is interrupted.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	s, err := parse(args, progress)
	if err != nil {
		return err
	}
	p, err := plan(s.goroutines)
	if err != nil {
		return err
	}
	p.Rounds, p.Duration, p.WarmUp, p.Seed = s.rounds, s.duration, s.warmUp, s.seed
	r, err := head(s)
	if err != nil {
		return err
	}
	job := console.Job{Plan: p, Report: r, Bases: []string{bench.ClockReading, nextName}, Verdicts: verdicts, Out: s.out}
	return job.Run(ctx, out, progress)
}

// head is all of a report that is known before the first turn.
func head(s settings) (*bench.Report, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	versions := bench.Modules(rivals...)
	versions["pgflurry"], err = bench.Built(own)
	return &bench.Report{
		Kind: bench.KindInProcess, Counts: "goroutines", Title: "IDs made in process", Began: time.Now(), Machine: bench.ThisMachine(), Versions: versions,
		Command: fmt.Sprintf("go run -C bench ./inprocess --goroutines %s --rounds %d --duration %v --warm-up %v --seed %d",
			console.Numbers(s.goroutines), s.rounds, s.duration, s.warmUp, s.seed),
		Settings: map[string]string{
			aCall:   "layouts so wide that nobody waits: pgflurry 40/0/1/22, bwmarrin/snowflake 1 + 21 bits; sonyflake's is fixed, so 200 of the 256 IDs of a tick are timed",
			atLimit: "layouts as they come: pgflurry and bwmarrin/snowflake 4,096 IDs in 1 ms, sonyflake 256 in 10 ms",
		},
	}, err
}
