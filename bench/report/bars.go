package report

import (
	"fmt"
	"strings"
)

// eighths of a column, from one to seven.
var eighths = []rune("▏▎▍▌▋▊▉")

// leastBar is the least length of the longest bar in columns, however narrow the screen is.
const leastBar = 10

// writeBars draws throughputs as bars from zero, with the number after each.
func writeBars(b *strings.Builder, figures []Figure, on Screen) {
	most, numbers := 0.0, 0
	for _, f := range figures {
		most = max(most, f.PerSecond.Median)
		numbers = max(numbers, columns(inNineColumns(f.PerSecond.Median)))
	}
	names := nameColumns(figures, on.Width-gap-leastBar-1-numbers)
	room := max(leastBar, on.Width-names-gap-1-numbers)
	for _, f := range figures {
		share := 0.0
		if most > 0 {
			share = f.PerSecond.Median / most
		}
		fmt.Fprintf(b, "%s%s%s %s\n", padded(plain(f.Contender), names), strings.Repeat(" ", gap),
			bar(share, room, on.ASCII), inNineColumns(f.PerSecond.Median))
	}
}

// bar draws a share of columns to an eighth of a column, or in whole columns if there is only ASCII. A share above zero
// is never invisible.
func bar(share float64, columns int, onlyASCII bool) string {
	if onlyASCII {
		n := int(share*float64(columns) + 0.5)
		if share > 0 {
			n = max(n, 1)
		}
		return strings.Repeat("#", n)
	}
	n := int(share*float64(8*columns) + 0.5)
	if share > 0 {
		n = max(n, 1)
	}
	text := strings.Repeat("█", n/8)
	if rest := n % 8; rest > 0 {
		text += string(eighths[rest-1])
	}
	return text
}
