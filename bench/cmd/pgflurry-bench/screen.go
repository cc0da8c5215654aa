package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pgflurry/bench/report"
)

// mostColumns limits the width of a quick look: people paste it into messages, which others read in other windows.
const mostColumns = 100

// screenOf is the terminal behind out, or the default for a file.
func screenOf(out io.Writer) report.Screen {
	on := report.Screen{Width: mostColumns, ASCII: !speaksUTF8(os.Getenv)}
	if file, is := out.(*os.File); is {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			on.Width = min(on.Width, width)
		}
	}
	return on
}

// speaksUTF8 says whether the locale uses UTF-8, by the first variable that is set (setlocale(3)).
func speaksUTF8(env func(string) string) bool {
	charset := strings.ToUpper(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return strings.Contains(charset, "UTF-8") || strings.Contains(charset, "UTF8")
}
