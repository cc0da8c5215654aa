package main

import (
	"cmp"
	"strings"
)

// speaksUTF8 says whether the locale uses UTF-8, by the first variable that is set (setlocale(3)).
func speaksUTF8(env func(string) string) bool {
	charset := strings.ToUpper(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return strings.Contains(charset, "UTF-8") || strings.Contains(charset, "UTF8")
}
