package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// apart is the least time between the first signal and one that ends the program at once. Some parents send each signal
// twice within milliseconds: timeout to its child and then to the child's group, and so do foreman and its kin.
const apart = time.Second

// A stopper ends the program in an orderly way after the first signal, and at once after a second one.
type stopper struct {
	log atomic.Pointer[finalLog] // nil: the command has none
}

// A finalLog is a log whose last line is written before the program is killed.
type finalLog struct {
	*slog.Logger
	written func() // waits for that, but not for ever
}

type stopperKey struct{}

// untilSignal returns a context that the first signal ends. It registers for both signals at once: a second one is not
// lost, however soon it follows.
func untilSignal() context.Context {
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	s := &stopper{}
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), stopperKey{}, s))
	go func() {
		first := <-received
		cancel(fmt.Errorf("stopped by signal: %v", first))
		endBy(s.second(received))
	}()
	return ctx
}

// logSignals makes the program say what it does with a second signal.
func logSignals(ctx context.Context, log *slog.Logger, written func()) {
	if s, is := ctx.Value(stopperKey{}).(*stopper); is {
		s.log.Store(&finalLog{log, written})
	}
}

// second returns the signal after the first that counts.
func (s *stopper) second(received <-chan os.Signal) os.Signal {
	first := time.Now()
	for again := range received {
		since := time.Since(first)
		log := s.log.Load()
		switch {
		case since >= apart && log != nil:
			log.Warn("a second signal ends the process at once: open transactions are cut, "+
				"and the worker is not given back", "signal", again)
			log.written()
			return again
		case since >= apart:
			return again
		case log != nil:
			log.Info("a signal is ignored: it came too soon after the first to mean more",
				"signal", again, "after", since, "counts_after", apart)
		}
	}
	return nil // never: nobody closes the channel
}
