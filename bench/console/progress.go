package console

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"pgflurry/bench/trial"
)

// showProgress shows the progress of a plan on w: a bar with the time left on a terminal, or one line a round
// elsewhere. printLine prints a line in between, and end removes the bar.
func showProgress(w io.Writer, p *trial.Plan) (printLine func(line string), end func()) {
	file, is := w.(*os.File)
	if info, err := statOf(file, is); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		announced := -1
		p.Progress = func(behind time.Duration, round int, _ trial.Trial) {
			if round != announced {
				fmt.Fprintf(w, "%s; about %v left\n",
					roundName(round, p.Rounds), (p.Estimate() - behind).Round(time.Second))
				announced = round
			}
		}
		return func(line string) { fmt.Fprintln(w, line) }, func() {}
	}
	bar := progressbar.NewOptions64(p.Estimate().Milliseconds(), progressbar.OptionSetWriter(w),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionSetWidth(20),
		progressbar.OptionClearOnFinish())
	p.Progress = func(behind time.Duration, round int, next trial.Trial) {
		bar.Describe(fmt.Sprintf("%s: %s, %s", roundName(round, p.Rounds), next.Workload.Name, next.Contender))
		_ = bar.Set64(behind.Milliseconds())
	}
	end = func() { _ = bar.Clear() }
	return func(line string) { end(); fmt.Fprintln(w, line) }, end
}

func statOf(file *os.File, is bool) (os.FileInfo, error) {
	if !is {
		return nil, os.ErrInvalid
	}
	return file.Stat()
}

func roundName(round, of int) string {
	if round == 0 {
		return "warm-up"
	}
	return fmt.Sprintf("round %d of %d", round, of)
}
