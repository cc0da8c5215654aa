package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"pgflurry/admin"
)

const (
	// statusEvery is how often the state is looked at.
	statusEvery = 2 * time.Second
	// endTime is what the end takes beside the drain: the worker is given back.
	endTime = 5 * time.Second
)

// A supervisor is the service manager that has started the process, if that wants to know how it fares: systemd, by
// NOTIFY_SOCKET (https://www.freedesktop.org/software/systemd/man/sd_notify.html). Otherwise nobody is told anything.
type supervisor struct {
	log      *slog.Logger
	tell     func(...string) // lines such as READY=1; they arrive together
	watchdog time.Duration   // how often it wants a sign of life; 0: never

	mu       sync.Mutex
	stopping bool
}

// newSupervisor finds out from the environment who wants to know what.
func newSupervisor(log *slog.Logger) *supervisor {
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the service manager gets no signs of life: its variables cannot be read", "cause", err)
	}
	tell := func(lines ...string) {
		if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
			log.Warn("the service manager could not be told", "what", lines[0], "cause", err)
		}
	}
	return &supervisor{log: log, tell: tell, watchdog: watchdog}
}

// follow tells that the node listens, from then on how it fares, and, once ctx has ended, that it stops and how long
// that may take. A sign of life is given only when state has answered: who waits for ever in there is to be restarted.
// The caller ends it, which takes a second at most: a manager that does not read keeps no program from its end.
func (s *supervisor) follow(ctx context.Context, state func() admin.State, drain time.Duration) (end func()) {
	s.tell(daemon.SdNotifyReady)
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	var telling sync.WaitGroup
	telling.Add(1)
	unhook := context.AfterFunc(ctx, func() {
		defer telling.Done()
		s.stops(drain)
	})
	telling.Go(func() { s.watch(following, state) })
	return func() {
		if unhook() { // it ends by itself, and stops never runs
			telling.Done()
		}
		stop()
		done := make(chan struct{})
		go func() {
			telling.Wait()
			close(done)
		}()
		late := time.NewTimer(lastLines)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C: // the manager reads no more, and telling it waits for that
		}
	}
}

// watch tells the state when it has changed, and gives signs of life, until ctx ends.
func (s *supervisor) watch(ctx context.Context, state func() admin.State) {
	every := statusEvery
	if s.watchdog > 0 {
		every = min(every, s.watchdog/2)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	told := ""
	for {
		var news []string
		if now := admin.Sentence(state()); now != told {
			news = append(news, "STATUS="+now)
			told = now
		}
		if s.watchdog > 0 {
			news = append(news, daemon.SdNotifyWatchdog)
		}
		if len(news) > 0 {
			s.tell(news...)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// reloads tells when a reload begins and when it is over.
func (s *supervisor) reloads(reload func()) {
	s.unlessStopping(daemon.SdNotifyReloading, strings.TrimSpace(daemon.SdNotifyMonotonicUsec()))
	reload()
	s.unlessStopping(daemon.SdNotifyReady)
}

// stops tells that the end has begun. The manager's patience is no shorter than the drain then, whatever its unit says.
func (s *supervisor) stops(drain time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	s.tell(daemon.SdNotifyStopping, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", (drain+endTime).Microseconds()))
}

func (s *supervisor) unlessStopping(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.tell(lines...)
	}
}
