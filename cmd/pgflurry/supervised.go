package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"pgflurry/internal/admin"
	"pgflurry/internal/logs"
	"pgflurry/internal/report"
)

const (
	// statusEvery is the time between two looks at the state.
	statusEvery = 2 * time.Second
	// endTime is what the end takes after the drain: the proxy gives its worker back.
	endTime = 5 * time.Second
)

// A supervisor reports to the service manager that has started the process, if that listens: systemd, by NOTIFY_SOCKET
// (https://www.freedesktop.org/software/systemd/man/sd_notify.html). Nil does nothing: there is no such manager.
type supervisor struct {
	log      *slog.Logger
	notify   func(...string) // sends lines such as READY=1, all in one message
	watchdog time.Duration   // how often the manager wants a sign of life; 0: never

	mu       sync.Mutex
	stopping bool
}

// newSupervisor finds out from the environment what the manager wants to know; nil: there is none.
func newSupervisor(log *slog.Logger) *supervisor {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil
	}
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the service manager gets no signs of life: its variables cannot be read", "cause", err)
	}
	notify := func(lines ...string) {
		if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
			log.Warn("the service manager could not be notified", "what", lines[0], "cause", err)
		}
	}
	return &supervisor{log: log, notify: notify, watchdog: watchdog}
}

// follow reports READY, then the state of the node. When ctx ends it reports STOPPING and how long that may take. It
// feeds the watchdog only after state has answered: a node whose state blocks for ever has to be restarted. end stops
// the reports within a second: a manager that does not read must not delay the program's end.
func (s *supervisor) follow(ctx context.Context, state func() report.State, drain time.Duration) (end func()) {
	if s == nil {
		return func() {}
	}
	s.notify(daemon.SdNotifyReady)
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	var notifying sync.WaitGroup
	notifying.Add(1)
	unhook := context.AfterFunc(ctx, func() {
		defer notifying.Done()
		s.stops(drain)
	})
	notifying.Go(func() { s.watch(following, state) })
	return func() {
		if unhook() { // ctx has not ended, and stops will never run
			notifying.Done()
		}
		stop()
		done := make(chan struct{})
		go func() {
			notifying.Wait()
			close(done)
		}()
		late := time.NewTimer(logs.LastLines)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C: // the manager does not read, and a report to it blocks
		}
	}
}

// watch reports changes of the state, and feeds the watchdog, until ctx ends.
func (s *supervisor) watch(ctx context.Context, state func() report.State) {
	every := statusEvery
	if s.watchdog > 0 {
		every = min(every, s.watchdog/2)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	sent := ""
	for {
		var news []string
		if now := admin.Sentence(state()); now != sent {
			news = append(news, "STATUS="+now)
			sent = now
		}
		if s.watchdog > 0 {
			news = append(news, daemon.SdNotifyWatchdog)
		}
		if len(news) > 0 {
			s.notify(news...)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// reloads runs a reload, and reports its begin and end.
func (s *supervisor) reloads(reload func()) {
	if s == nil {
		reload()
		return
	}
	s.unlessStopping(daemon.SdNotifyReloading, strings.TrimSpace(daemon.SdNotifyMonotonicUsec()))
	reload()
	s.unlessStopping(daemon.SdNotifyReady)
}

// stops reports that the end has begun. It extends the manager's timeout to the length of the drain, whatever the unit
// says.
func (s *supervisor) stops(drain time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	s.notify(daemon.SdNotifyStopping, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", (drain+endTime).Microseconds()))
}

func (s *supervisor) unlessStopping(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.notify(lines...)
	}
}
