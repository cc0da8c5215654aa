package segment

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatStaysWrongIsLoggedAgainEachMinuteWithHowLongItHasLasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 2000) // all that is in memory
		synctest.Wait()
		r.mustDraw("order", 2000)
		synctest.Wait()
		of.do(func() { of.down = true })
		for range 150 {
			_, _ = r.draw("order", 5000)
			time.Sleep(time.Second)
		}
		told := func(what string) (lines []string) {
			for line := range strings.Lines(r.log.String()) {
				if strings.Contains(line, what) {
					lines = append(lines, line)
				}
			}
			return lines
		}
		fetches, looks := told("no block could be fetched"), told("could not be looked at")
		if len(fetches) != 3 || strings.Contains(fetches[0], "trouble_lasted") ||
			!strings.Contains(fetches[1], "trouble_lasted=1m") || !strings.Contains(fetches[2], "trouble_lasted=2m") {
			t.Errorf("in two and a half minutes it was told:\n%s", strings.Join(fetches, ""))
		}
		if len(looks) != 2 || strings.Contains(looks[0], "trouble_lasted") ||
			!strings.Contains(looks[1], "trouble_lasted=1m") {
			t.Errorf("of the looks it was told:\n%s", strings.Join(looks, ""))
		}
		of.do(func() { of.down = false })
		time.Sleep(longestRest)
		r.mustDraw("order", 1)
		if n := len(told("numbers are fetched again")); n != 1 {
			t.Errorf("that they are fetched again was told %d times", n)
		}
	})
}

func TestThatTooManyTagsAreInUseIsToldAgainEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order", "item")
		r := start(t, of)
		defer r.stop()
		r.maxTags = 1
		r.mustDraw("order", 1)
		for range 90 {
			_, _ = r.draw("item", 1)
			time.Sleep(time.Second)
		}
		if n := strings.Count(r.log.String(), "too many tags are in use"); n != 2 {
			t.Errorf("it was told %d times in a minute and a half, expected 2:\n%s", n, r.log)
		}
	})
}
