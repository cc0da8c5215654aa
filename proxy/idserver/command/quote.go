package command

import "strings"

// quotedText is the largest number of characters of the client's text in an error.
const quotedText = 120

// quote is the beginning of a client's text, as one line of ASCII.
func quote[T string | []byte](text T) string {
	var b strings.Builder
	n := 0
	for _, r := range string(text[:min(len(text), 4*quotedText+4)]) {
		if n++; n > quotedText-3 && len(text) > quotedText {
			b.WriteString("...")
			break
		}
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\f':
			b.WriteByte(' ')
		case r < ' ', r > '~':
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
