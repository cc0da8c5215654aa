package outcome_test

import (
	"errors"
	"fmt"
	"testing"

	"pgflurry/internal/fault/outcome"
)

func TestAnErrorKeepsItsKindThroughOthersAndWithoutOneHasFailed(t *testing.T) {
	base := errors.New("nothing listens")
	unreachable := outcome.As(outcome.Unreachable, base)
	for _, c := range []struct {
		err  error
		want outcome.Kind
	}{
		{base, outcome.Failed},
		{unreachable, outcome.Unreachable},
		{fmt.Errorf("--join: %w", unreachable), outcome.Unreachable},
		{errors.Join(base, unreachable), outcome.Unreachable},
		{outcome.As(outcome.Usage, unreachable), outcome.Usage}, // the outermost
	} {
		if got := outcome.Of(c.err); got != c.want {
			t.Errorf("%v is of kind %d, expected %d", c.err, got, c.want)
		}
	}
	if !errors.Is(unreachable, base) || outcome.As(outcome.Usage, nil) != nil {
		t.Error("As changes more than the kind")
	}
}
