package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Plan says what Run does.
type Plan struct {
	Trials   []Trial
	Rounds   int           // at least 1
	Duration time.Duration // of each trial in each round
	WarmUp   time.Duration // of each trial before the first round; zero: no warm-up
	Seed     uint64        // decides the order of the contenders
	// Watch names the server processes whose processor time is measured, by contender and role.
	Watch map[string]map[string]int
	// Progress is called before each run of a trial, with the part of the Estimate that is done; may be nil. Round 0 is
	// the warm-up.
	Progress func(behind time.Duration, round int)
	// Failed is called when a trial has failed in a round. The trial then gets no more turns. If Failed is nil, the
	// first failure ends the run.
	Failed func(round int, t Trial, why error)
}

// WatchProcess adds a server process whose processor time is measured. 0 adds none.
func (p *Plan) WatchProcess(contender, role string, pid int) {
	if p.Watch == nil {
		p.Watch = make(map[string]map[string]int)
	}
	if p.Watch[contender] == nil {
		p.Watch[contender] = make(map[string]int)
	}
	if pid != 0 {
		p.Watch[contender][role] = pid
	}
}

// Estimate is roughly how long the plan takes.
func (p Plan) Estimate() (all time.Duration) {
	for _, t := range p.Trials {
		if p.WarmUp > 0 {
			all += p.WarmUp + t.Workload.Settle
		}
		all += time.Duration(p.Rounds) * (p.Duration + t.Workload.Settle)
	}
	return all
}

// Run runs the plan. It returns the samples so far with an error if ctx ends or no trial is left. If Failed is nil, one
// failed trial is enough.
func Run(ctx context.Context, p Plan) ([]Sample, error) {
	if len(p.Trials) == 0 || p.Rounds < 1 || p.Duration <= 0 {
		return nil, fmt.Errorf("the plan has %d trials, %d rounds of %v; expected at least one of each",
			len(p.Trials), p.Rounds, p.Duration)
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
				behind += d + trial.Workload.Settle
				continue
			}
			if p.Progress != nil {
				p.Progress(behind, round)
			}
			sample, err := p.take(ctx, trial, d)
			behind += d + trial.Workload.Settle
			switch {
			case err == nil && round > 0:
				sample.Round = round
				samples = append(samples, sample)
			case err == nil: // a warm-up gives no sample
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
	s := Sample{Workload: t.Workload.Name, Contender: t.Contender}
	var err error
	if s.Count, err = thisSystem().measureCPU(ctx, t.Run, d, p.Watch[t.Contender]); err != nil {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		return s, fmt.Errorf("%s: %w", t.name(), err)
	}
	if s.Operations == 0 || s.Elapsed <= 0 {
		return s, fmt.Errorf("%s: %w", t.name(), ErrNothingDone)
	}
	return s, nil
}

// ErrNothingDone is the error of a turn that finished nothing.
var ErrNothingDone = errors.New("nothing was done in the time; give --duration more")

// shuffled keeps the order of workloads, and shuffles the contenders of each.
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
