package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"pgflurry/internal/fault"
)

func TestAnErrorKeepsItsKindThroughOthersAndWithoutOneHasFailed(t *testing.T) {
	base := errors.New("nothing listens")
	unreachable := fault.WithKind(fault.Unreachable, base)
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{base, fault.Failed},
		{unreachable, fault.Unreachable},
		{fmt.Errorf("--join: %w", unreachable), fault.Unreachable},
		{errors.Join(base, unreachable), fault.Unreachable},
		{fault.WithKind(fault.Usage, unreachable), fault.Usage}, // the outermost
	} {
		if got := fault.KindOf(c.err); got != c.want {
			t.Errorf("%v is of kind %d, expected %d", c.err, got, c.want)
		}
	}
	if !errors.Is(unreachable, base) || fault.WithKind(fault.Usage, nil) != nil {
		t.Error("As changes more than the kind")
	}
}
