package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/internal/logs"
	"pgflurry/internal/report"
)

// manager is a fake service manager that records its messages. Several goroutines may use it.
type manager struct {
	mu    sync.Mutex
	lines []string
}

func (m *manager) notify(lines ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, lines...)
}

func (m *manager) sent() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lines)
}

func TestNoSignOfLifeIsGivenWhileTheNodeDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var manager manager
		s := &supervisor{notify: manager.notify, watchdog: 4 * time.Second}
		signs := func() (n int) {
			synctest.Wait()
			for _, line := range manager.sent() {
				if line == "WATCHDOG=1" {
					n++
				}
			}
			return n
		}
		hangs := make(chan struct{})
		asked := 0
		end := s.follow(t.Context(), func() report.State {
			if asked++; asked == 2 {
				<-hangs
			}
			return report.State{}
		}, time.Second)
		if n := signs(); n != 1 || manager.sent()[0] != "READY=1" {
			t.Fatalf("at the beginning it was notified of %q", manager.sent())
		}
		time.Sleep(time.Hour)
		if n := signs(); n != 1 {
			t.Errorf("%d signs of life while the node does not answer", n-1)
		}
		close(hangs)
		before := signs()
		time.Sleep(4 * time.Second)
		if n := signs() - before; n < 2 {
			t.Errorf("%d signs of life in the time of the watchdog; expected two", n)
		}
		end()
	})
}

func TestTheStateIsSentWhenItHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var manager manager
		s := &supervisor{notify: manager.notify}
		var draining atomic.Bool
		end := s.follow(t.Context(), func() report.State {
			return report.State{Listening: true, Address: "127.0.0.1:6432", Draining: draining.Load()}
		}, time.Second)
		time.Sleep(time.Hour)
		draining.Store(true)
		time.Sleep(2 * statusEvery)
		synctest.Wait()
		end()
		sent := slices.DeleteFunc(manager.sent(), func(line string) bool { return !strings.HasPrefix(line, "STATUS=") })
		if len(sent) != 2 || sent[0] == sent[1] {
			t.Errorf("it was notified of %q; expected two states", sent)
		}
	})
}

func TestAReloadThatOutlivesTheBeginningOfTheEndIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var manager manager
		s := &supervisor{notify: manager.notify}
		ctx, stop := context.WithCancel(t.Context())
		end := s.follow(ctx, func() report.State { return report.State{} }, 30*time.Second)
		s.reloads(func() {
			stop()
			synctest.Wait()
		})
		end()
		sent := manager.sent()
		stops := slices.Index(sent, "STOPPING=1")
		if stops < 0 || sent[stops+1] != "EXTEND_TIMEOUT_USEC=35000000" || slices.Contains(sent[stops:], "READY=1") {
			t.Errorf("it was notified of %q", sent)
		}
	})
}

func TestAnEndAtOnceIsReportedAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var manager manager
		s := &supervisor{notify: func(lines ...string) {
			if lines[0] == "STOPPING=1" {
				time.Sleep(logs.LastLines / 2) // on a busy machine the rest of the program may end first
			}
			manager.notify(lines...)
		}}
		ctx, stop := context.WithCancel(t.Context())
		end := s.follow(ctx, func() report.State { return report.State{} }, time.Second)
		stop()
		end()
		if sent := manager.sent(); !slices.Contains(sent, "STOPPING=1") {
			t.Errorf("it was notified of %q; expected STOPPING=1 before the end", sent)
		}
	})
}

func TestAManagerThatDoesNotReadKeepsNoProgramFromItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := make(chan struct{})
		s := &supervisor{notify: func(lines ...string) {
			if lines[0] != "READY=1" {
				<-reads // as a datagram blocks if the manager's socket is full
			}
		}}
		ctx, stop := context.WithCancel(t.Context())
		end := s.follow(ctx, func() report.State { return report.State{} }, time.Second)
		time.Sleep(time.Hour)
		stop()
		end()
		close(reads)
	})
}

func TestWithoutAServiceManagerNobodyLooksAtTheState(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	var s *supervisor
	if s = newSupervisor(slog.New(slog.DiscardHandler)); s != nil {
		t.Fatal("there is a manager")
	}
	state := func() report.State {
		t.Error("somebody has asked for the state")
		return report.State{}
	}
	end := s.follow(t.Context(), state, time.Second)
	reloaded := false
	s.reloads(func() { reloaded = true })
	end()
	if !reloaded {
		t.Error("a reload was not run")
	}
}
