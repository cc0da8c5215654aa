package generator

import (
	"fmt"
	"strings"
)

// An ID as text is 13 characters of Crockford's base32, https://www.crockford.com/base32.html: the first has 3 bits of
// the ID, each other one 5. Texts sort as IDs do. sqlfuncs/base32.sql does the same in SQL.
const (
	base32Length  = 13
	base32Digits  = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base32Symbols = base32Digits + "*~$=U" // the symbols that a check symbol can have
	base32Prime   = int64(len(base32Symbols))
)

// Base32 returns an ID as 13 characters of Crockford's base32, in upper case. It refuses a negative number.
func Base32(id int64) (string, error) {
	if id < 0 {
		return "", negative(id)
	}
	var text [base32Length]byte
	for i, rest := base32Length-1, id; i >= 0; i, rest = i-1, rest>>5 {
		text[i] = base32Digits[rest&31]
	}
	return string(text[:]), nil
}

// CheckedBase32 returns Base32 and a check symbol: the ID modulo 37. The symbol reveals a wrong character and two
// neighbours that are swapped.
func CheckedBase32(id int64) (string, error) {
	text, err := Base32(id)
	if err != nil {
		return "", err
	}
	return text + base32Symbols[id%base32Prime:][:1], nil
}

// FromBase32 reads the texts of Base32 and CheckedBase32. It also reads lower case, O as 0, and I and L as 1. It
// ignores hyphens between characters. If there is a check symbol, it must be right.
func FromBase32(text string) (int64, error) {
	id, err := readBase32(text)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not base32: %w", text, err)
	}
	return id, nil
}

// readBase32 is FromBase32 with errors that begin with "it" and do not name the text.
func readBase32(text string) (id int64, err error) {
	var symbols []rune
	for i, r := range text {
		if r != '-' || i == 0 || i == len(text)-1 { // only hyphens between characters are ignored
			symbols = append(symbols, r)
		}
	}
	if n := len(symbols); n != base32Length && n != base32Length+1 {
		return 0, fmt.Errorf("it has %d characters; expected %d, or %d with a check symbol",
			n, base32Length, base32Length+1)
	}
	for _, r := range symbols[:base32Length] {
		value := base32Value(r)
		if value < 0 || value >= int64(len(base32Digits)) {
			return 0, fmt.Errorf("it has the character %q; base32 has digits, and letters without I, L, O and U", r)
		}
		id = id<<5 | value
	}
	if base32Value(symbols[0]) >= 1<<(idBits%5) {
		return 0, fmt.Errorf("it has more than %d bits; its first character is 0 to 7", idBits)
	}
	if len(symbols) > base32Length && base32Value(symbols[base32Length]) != id%base32Prime {
		return 0, fmt.Errorf("its check symbol is wrong: a character is wrong, or two are swapped")
	}
	return id, nil
}

// base32Value returns the value of a character, as a digit or as a check symbol, or -1.
func base32Value(r rune) int64 {
	if r >= 'a' && r <= 'z' { // only ASCII: in Unicode other letters also have an upper case of S or I
		r -= 'a' - 'A'
	}
	switch r {
	case 'O':
		return 0
	case 'I', 'L':
		return 1
	}
	return int64(strings.IndexRune(base32Symbols, r))
}
