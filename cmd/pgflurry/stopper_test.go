package main

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestASecondSignalCountsASecondAfterTheFirstAndIsLogged(t *testing.T) {
	for _, logged := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var s stopper
			var log bytes.Buffer
			written := false
			if logged {
				s.log.Store(&finalLog{slog.New(slog.NewTextHandler(&log, nil)), func() { written = true }})
			}
			received, ended := make(chan os.Signal), make(chan os.Signal, 1)
			go func() { ended <- s.second(received) }()
			synctest.Wait() // it has seen the first
			received <- syscall.SIGTERM
			time.Sleep(apart - time.Millisecond)
			received <- syscall.SIGTERM
			synctest.Wait()
			if len(ended) > 0 {
				t.Fatal("a signal within a second of the first has ended the process")
			}
			time.Sleep(time.Millisecond)
			received <- os.Interrupt
			if last := <-ended; last != os.Interrupt {
				t.Errorf("it ends by %v; expected the signal that counted", last)
			}
			said := log.String()
			if logged && (strings.Count(said, "is ignored") != 2 || !strings.Contains(said, "level=WARN") || !written) {
				t.Errorf("the log says (written: %v):\n%s", written, said)
			}
		})
	}
}
