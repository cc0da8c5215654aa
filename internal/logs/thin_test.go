package logs

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// counted returns a logger for a synctest bubble, the lines that it has written, and its end.
func counted(t *testing.T) (log *slog.Logger, lines func() []string, end func()) {
	t.Helper()
	var out bytes.Buffer
	thinned, end := Thin(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}), time.Now)
	lines = func() []string {
		synctest.Wait()
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	return slog.New(thinned), lines, end
}

var repeatedPattern = regexp.MustCompile(` repeated=(\d+)$`)

// standFor is the number of lines that these stand for.
func standFor(t *testing.T, lines []string) (n int) {
	t.Helper()
	for _, line := range lines {
		n++
		if match := repeatedPattern.FindStringSubmatch(line); match != nil {
			more, err := strconv.Atoi(match[1])
			if err != nil {
				t.Fatal(err)
			}
			n += more - 1
		}
	}
	return n
}

func TestOfAFloodFewLinesAreWrittenAndNoneIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines, end := counted(t)
		const each = 100
		const all = 7*each + each/2
		for i := range all {
			log.With("client", fmt.Sprint("127.0.0.1:", i)).Warn("session refused", "cause", fmt.Sprint("port ", i))
			if i == 0 && len(lines()) != 1 {
				t.Error("the first line has to wait")
			}
			time.Sleep(time.Second / each)
		}
		if n := len(lines()); n != 4 { // at 0, 1, 3 and 7 s
			t.Errorf("7.5 s of a flood gave %d lines:\n%s", n, strings.Join(lines(), "\n"))
		}
		end()
		got := lines()
		if n := standFor(t, got); n != all {
			t.Errorf("the lines stand for %d, expected %d:\n%s", n, all, strings.Join(got, "\n"))
		}
		if last := got[len(got)-1]; !strings.Contains(last, "client=127.0.0.1:749 ") ||
			!strings.Contains(last, `cause="port 749"`) {
			t.Errorf("the last line has not the attributes of the last: %s", last)
		}
		log.Warn("session refused", "client", "x")
		log.Warn("session refused", "client", "x")
		if n := standFor(t, lines()); n != all+2 {
			t.Errorf("after the end lines are lost: %d", n)
		}
	})
}

func TestAnHourOfATroubleHasLessThan70Lines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines, end := counted(t)
		const all = 2 * 3600
		for range all {
			log.Warn("session refused", "client", "x")
			time.Sleep(time.Second / 2)
		}
		end()
		if got := lines(); len(got) >= 70 || standFor(t, got) != all {
			t.Errorf("%d lines stand for %d, expected %d", len(got), standFor(t, got), all)
		}
	})
}

func TestTheTimesOfTheLogNeverFall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines, end := counted(t)
		for i := range 40 {
			log.Info("often", "client", fmt.Sprint(i))
			time.Sleep(100 * time.Millisecond)
			log.Info("once", "number", i)
		}
		end()
		var times []string
		for _, line := range lines() {
			times = append(times, strings.Fields(line)[0])
		}
		if !slices.IsSorted(times) {
			t.Errorf("the times fall:\n%s", strings.Join(lines(), "\n"))
		}
	})
}

func TestALineAfterAQuietSecondIsWrittenAtOnceAndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines, _ := counted(t)
		for n := 1; n <= 5; n++ {
			log.Info("the same", "client", "x")
			if got := lines(); len(got) != n || standFor(t, got) != n || repeatedPattern.MatchString(got[n-1]) {
				t.Errorf("line %d: %q", n, got)
			}
			time.Sleep(countFirst + time.Millisecond)
		}
	})
}

func TestOnlyEqualLinesAreCountedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines, end := counted(t)
		app, sales := log.With("database", "app"), log.With("database", "sales")
		app.Info("answered")
		sales.Info("answered")
		log.Info("answered", "database", "third")
		app.Warn("answered")
		app.Info("answered", "cause", "other")
		log.WithGroup("g").Info("answered")
		log.Debug("session begins", "client", "x")
		log.Info("session begins", "client", "x")
		if n := len(lines()); n != 8 {
			t.Errorf("%d lines of eight kinds:\n%s", n, strings.Join(lines(), "\n"))
		}
		app.Info("answered")
		time.Sleep(time.Millisecond)
		log.With("client", "y").Debug("session begins")
		end()
		if got := lines(); len(got) != 10 || !strings.Contains(got[8], "database=app repeated=1") ||
			!strings.Contains(got[9], "client=y repeated=1") {
			t.Errorf("two lines that came twice:\n%s", strings.Join(got, "\n"))
		}
	})
}
