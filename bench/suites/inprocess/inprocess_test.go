package inprocess

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"

	"pgflurry/bench/trial"
)

// all are the sources of both tasks, without the clocks, which make no IDs.
func all(t *testing.T) []source {
	t.Helper()
	call, limit, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Concat(call, limit), func(s source) bool { return !ours(s.name) && !rival(s.name) })
}

func TestRule1WhatIsCountedWasMadeAndNoSourceMakesAnIDTwice(t *testing.T) {
	for _, s := range all(t) {
		t.Run(s.name, func(t *testing.T) {
			calls := 500
			if s.alone {
				calls = 2 // it sleeps before each
			}
			if s.set != nil {
				s.set()
				defer s.reset()
			}
			seen := make(map[any]bool)
			for range calls {
				m, err := s.many(1)
				if err != nil {
					t.Fatal(err)
				}
				if seen[m.last] {
					t.Fatalf("%v came twice", m.last)
				}
				seen[m.last] = true
				want := map[string]int{nextNName: runLength}[s.name]
				if s.alone {
					want = sonyflakeBurst
				}
				if m.ids != max(want, 1) {
					t.Errorf("one call counts as %d IDs", m.ids)
				}
			}
		})
	}
}

// counted is a source of randomness that counts its bytes.
type counted int

func (c *counted) Read(p []byte) (int, error) {
	*c += counted(len(p))
	return rand.Read(p)
}

func TestRule2ALibrarysSettingsStayAsTheyCame(t *testing.T) {
	p, err := Plan([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	var given counted
	uuid.SetRand(&given)
	defer uuid.SetRand(nil)
	for _, one := range p.Trials {
		if _, err := one.Run(t.Context(), time.Nanosecond, trial.Unwatched); err != nil {
			t.Fatal(err)
		}
		if snowflake.NodeBits != 10 || snowflake.StepBits != 12 {
			t.Fatalf("%s leaves bwmarrin/snowflake with %d + %d bits",
				one.Contender, snowflake.NodeBits, snowflake.StepBits)
		}
		given = 0
		if _, err := uuid.NewRandom(); err != nil {
			t.Fatal(err)
		}
		if given != 16 { // a pool reads more at once, or nothing
			t.Fatalf("%s leaves google/uuid with a pool: %d bytes for the next UUID, expected 16", one.Contender, given)
		}
	}
}
