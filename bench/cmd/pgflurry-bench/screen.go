package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pgflurry/bench/report"
)

// mostColumns is how wide a quick look is at most: what people paste into a message is read in other windows.
const mostColumns = 100

// screenOf is the terminal that out is, or one that shows a file.
func screenOf(out io.Writer) report.Screen {
	on := report.Screen{Width: mostColumns, ASCII: !speaksUTF8(os.Getenv)}
	if file, is := out.(*os.File); is {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			on.Width = min(on.Width, width)
		}
	}
	return on
}

// speaksUTF8 says whether the locale's characters are Unicode, by the first variable that is set (setlocale(3)).
func speaksUTF8(env func(string) string) bool {
	charset := strings.ToUpper(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return strings.Contains(charset, "UTF-8") || strings.Contains(charset, "UTF8")
}
