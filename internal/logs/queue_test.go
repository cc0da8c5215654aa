package logs

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stalled is a slow reader of the log: it reads a line when the test allows it.
type stalled struct {
	lines bytes.Buffer
	read  chan struct{} // each value allows a line; closed, all
}

func (s *stalled) Write(line []byte) (int, error) {
	<-s.read
	return s.lines.Write(line)
}

// openTo opens a log with a queue in front of out.
func openTo(format string, out io.Writer) (*slog.Logger, *Queue) {
	return Queued(out, func(w io.Writer) slog.Handler {
		if format == "json" {
			return slog.NewJSONHandler(w, nil)
		}
		return slog.NewTextHandler(w, nil)
	})
}

func TestWhatAQueueHasNoRoomForIsCountedAtItsPlace(t *testing.T) {
	for format, gap := range map[string]string{
		"text": `level=ERROR msg="lines of this log are lost: its reader was too slow" lines=%d`,
		"json": `"level":"ERROR","msg":"lines of this log are lost: its reader was too slow","lines":%d}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			out := &stalled{read: make(chan struct{})}
			log, queue := openTo(format, out)
			const each, surplus = 10_000, 25
			kept := 0
			for ; queue.Lost() == 0; kept++ {
				log.Error(fmt.Sprint("line ", kept, "."), "long", strings.Repeat("x", each))
			}
			kept--
			if most := queueRoom/each + 1; kept < most/2 || kept > most { // the reader holds one more
				t.Errorf("%d lines of %d bytes wait in %d bytes", kept, each, queueRoom)
			}
			for range surplus - 1 { // they would fit, but then no single place would be missing lines
				log.Error("too late")
			}
			close(out.read)
			synctest.Wait()
			log.Error("there is room again")
			queue.End()

			lines := strings.Split(strings.TrimSpace(out.lines.String()), "\n")
			if len(lines) != kept+2 || queue.Lost() != surplus {
				t.Fatalf("%d lines were written, %d lost; expected %d and %d", len(lines), queue.Lost(), kept+2,
					surplus)
			}
			for i, line := range lines[:kept] {
				if !strings.Contains(line, fmt.Sprint("line ", i, ".")) {
					t.Errorf("line %d is out of order: %.100s", i, line)
				}
			}
			if want := fmt.Sprintf(gap, surplus); !strings.Contains(lines[kept], want) {
				t.Errorf("behind them stands %s; expected %s", lines[kept], want)
			}
			if last := lines[kept+1]; !strings.Contains(last, "there is room again") {
				t.Errorf("the last line is %s", last)
			}
		})
	}
}

func TestTheEndWritesWhatWaitsAndSaysWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stalled{read: make(chan struct{})}
		log, queue := openTo("text", out)
		for range 20_000 {
			log.Error("a flood")
		}
		time.AfterFunc(LastLines/2, func() { close(out.read) }) // the reader comes back
		queue.End()
		text, lost := out.lines.String(), queue.Lost()
		written := strings.Count(text, "a flood")
		if written+int(lost) != 20_000 || !strings.HasSuffix(text, fmt.Sprintf(" lines=%d\n", lost)) {
			t.Errorf("%d of 20,000 lines were written, %d lost; the end is %q", written, lost, text[len(text)-99:])
		}
	})
}

func TestTheEndDoesNotWaitForAReaderThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stalled{read: make(chan struct{})}
		log, queue := openTo("text", out)
		log.Error("nobody reads this")
		from := time.Now()
		queue.End()
		if waited := time.Since(from); waited != LastLines {
			t.Errorf("the end has waited %v, expected %v", waited, LastLines)
		}
		close(out.read) // lets the synctest bubble end
	})
}
