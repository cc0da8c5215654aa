package inprocess

import (
	"slices"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

func TestRule1WhatIsCountedWasMadeAndNoSourceMakesAnIDTwice(t *testing.T) {
	call, limit, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(call[1:], limit) { // the first reads a clock, and makes no ID
		seen := make(map[any]bool)
		for range 300 {
			ids, last, err := s.many(1)
			if want := map[string]int{nextNName: 100}[s.name]; err != nil || ids != max(want, 1) || seen[last] {
				t.Fatalf("%s: %d IDs of one call, the last %v, came before: %v, error %v", s.name,
					ids, last, seen[last], err)
			}
			seen[last] = true
		}
	}
}

func TestRule2ALibrarysSettingsStayAsTheyCame(t *testing.T) {
	p, err := Plan([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range p.Trials {
		count, err := one.Run(t.Context(), time.Nanosecond, trial.Unwatched)
		if err != nil || count.Operations < 1 || count.Also[busy] <= 0 {
			t.Fatalf("%s: %+v, error %v", one.Contender, count, err)
		}
	}
	if snowflake.NodeBits != 10 || snowflake.StepBits != 12 {
		t.Errorf("bwmarrin/snowflake is left with %d + %d bits", snowflake.NodeBits, snowflake.StepBits)
	}
}

func TestEachTargetIsJudgedByItsOwnFigure(t *testing.T) {
	p, err := Plan([]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	one := report.SpreadOf([]float64{1})
	var figures []report.Figure
	for _, t := range p.Trials {
		figures = append(figures, report.Figure{
			Workload: t.Workload.Name, Task: t.Workload.Task, Clients: t.Workload.Clients, Contender: t.Contender,
			PerSecond: report.SpreadOf([]float64{4.096e6}), Also: map[string]report.Spread{busy: one},
			Ratios: map[string]report.Spread{Next: one}, CPURatios: map[string]report.Spread{report.ClockReading: one},
		})
	}
	reached := 0
	all := Verdicts(figures)
	for _, v := range all {
		if v.Holds() {
			reached++
		}
	}
	// share and processors of the limit, and five libraries, each for two numbers; Next's readings and NextN once
	if len(all) != 2*2+2*5+2 || reached != len(all)-3 {
		t.Errorf("%d verdicts, %d reached: %+v; expected all but the processors twice and NextN", len(all),
			reached, all)
	}
}
