package node

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"pgflurry/internal/connect"
	"pgflurry/internal/primary"
)

func TestANewPrimaryRaisesASuspicion(t *testing.T) {
	clock := ownClock()
	u := &upstream{rules: &connect.Rules{Suspicion: new(connect.Suspicion)}}
	u.primary = primary.New(primary.Settings{
		Servers: []primary.Server{{
			Name: "db1", Close: func() {},
			Ask: func(context.Context) (primary.Answer, error) { return primary.Answer{Timeline: 1}, nil },
		}},
		Now: clock.monotonic, Wall: clock.wall, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	raised, changed := u.rules.Suspicion.Next(), u.primary.Changed()
	running.Go(func() { u.follow(ctx, changed) })
	running.Go(func() { u.primary.Run(ctx) })
	<-raised
}
