package main

import (
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// quiet is how long a command may take before it shows what it is doing.
const quiet = 3 * time.Second

// A progress shows on a terminal what a command is doing: a bar where the end is known, else a line. Elsewhere it shows
// nothing. Several goroutines may use it.
type progress struct {
	mu    sync.Mutex
	text  string
	until time.Time // the known end; zero: there is none
	ended chan struct{}
	gone  sync.WaitGroup
}

// showProgress begins one. The caller ends it.
func showProgress(cmd *cobra.Command) *progress {
	p := &progress{text: "connecting", ended: make(chan struct{})}
	if file, is := cmd.ErrOrStderr().(*os.File); is && term.IsTerminal(int(file.Fd())) {
		p.gone.Go(func() { p.draw(file) })
	}
	return p
}

// step says what is done now. Its end is not known.
func (p *progress) step(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// left says how long something still takes.
func (p *progress) left(text string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.until = text, time.Now().Add(d)
}

// draw draws until the end.
func (p *progress) draw(file *os.File) {
	var bar *progressbar.ProgressBar
	began, again := time.Now(), time.NewTicker(200*time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-p.ended:
			if bar != nil {
				_ = bar.Clear()
			}
			return
		case now := <-again.C:
			p.mu.Lock()
			text, until := p.text, p.until
			p.mu.Unlock()
			if now.Sub(began) < quiet {
				continue
			}
			whole := int64(-1)
			if !until.IsZero() {
				whole = max(until.Sub(began).Milliseconds(), 1)
			}
			if bar == nil || bar.GetMax64() != whole {
				bar = progressbar.NewOptions64(whole, progressbar.OptionSetWriter(file),
					progressbar.OptionSetPredictTime(whole > 0), progressbar.OptionSetElapsedTime(whole > 0),
					progressbar.OptionSetWidth(20))
			}
			bar.Describe(text)
			if whole > 0 {
				_ = bar.Set64(min(now.Sub(began).Milliseconds(), whole-1))
			} else {
				_ = bar.Add(1)
			}
		}
	}
}

// end removes it.
func (p *progress) end() {
	close(p.ended)
	p.gone.Wait()
}
