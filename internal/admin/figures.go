package admin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Numbers as people read them.

// lasting formats a duration in one unit, rounded down: a promise of time left must never be too long.
func lasting(d time.Duration) string {
	const day = 24 * time.Hour
	for _, u := range []struct {
		from, unit time.Duration
		name       string
	}{
		{2 * 365 * day, 365 * day, "years"},
		{2 * day, day, "days"},
		{2 * time.Hour, time.Hour, "h"},
		{2 * time.Minute, time.Minute, "min"},
	} {
		if d >= u.from {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d s", max(0, d)/time.Second)
}

// fine formats a duration that may be short, with its sign.
func fine(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "−", -d
	}
	switch {
	case d < 10*time.Millisecond:
		return sign + strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	case d < time.Second:
		return fmt.Sprintf("%s%d ms", sign, d/time.Millisecond)
	}
	return sign + lasting(d)
}

// relative says how far a time is from now.
func relative(now, then time.Time) string {
	switch ahead := then.Sub(now); {
	case ahead.Abs() < time.Second:
		return "just now"
	case ahead > 0:
		return "in " + lasting(ahead)
	default:
		return lasting(-ahead) + " ago"
	}
}

// beside compares a clock, which is ahead by d, with another one.
func beside(d time.Duration) string {
	switch short := fine(max(d, -d)); {
	case short == "0.0 ms":
		return "in step with"
	case d < 0:
		return short + " behind"
	default:
		return short + " ahead of"
	}
}

// instant formats a time in UTC, to the second.
func instant(t time.Time) string {
	return t.UTC().Format(time.RFC3339)
}

// grouped formats a number with separated thousands.
func grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	var groups []string
	for len(digits) > 3 {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	return sign + strings.Join(groups, ",")
}

// withNoun formats a number with its noun. The plural of the noun ends in s.
func withNoun[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// oneLine removes control characters and line breaks from a text that may come from outside.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}
