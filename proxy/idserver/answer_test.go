package idserver

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
)

// hung never has anything.
type hung struct{}

func (hung) TryNextN([]byte, int) (int64, int, error) { return 0, 0, nil }

func (hung) NextN(ctx context.Context, _ []byte, _ int) (int64, int, error) {
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

type hungIDs struct{ hung }

func (h hungIDs) TryNextN(int) (int64, int, error) { return 0, 0, nil }

func (h hungIDs) NextN(ctx context.Context, n int) (int64, int, error) {
	return h.hung.NextN(ctx, nil, n)
}

// The error has to come from the source that had nothing. If numbers are missing, it says nothing about IDs.
func TestAnAnswerThatWaitsInVainIsToldByWhoeverHadNothing(t *testing.T) {
	for name, tag := range map[string][]byte{"IDs": nil, "numbers": []byte("order")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked error
				unavailable := func(err error) fault.Error {
					asked = err
					return fault.New("57P03", "told", "hint")
				}
				d := draws{ctx: t.Context(), source: &source{draw.New(hungIDs{}, nil), hung{}, unavailable}}
				_, err := d.draw(tag, 1)
				if told := fault.New("57P03", "told", "hint"); err != told ||
					!errors.Is(asked, context.DeadlineExceeded) {
					t.Errorf("the client is told %#v of %v; expected %#v of %v",
						err, asked, told, context.DeadlineExceeded)
				}
			})
		})
	}
}
