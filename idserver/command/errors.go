package command

import (
	"strings"

	"pgflurry/idserver/problem"
)

// Codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	codeNotSupported     = "0A000"
	codeProtocol         = "08P01"
	codeNumberRange      = "22003"
	codeNullNotAllowed   = "22004"
	codeNotInRepertoire  = "22021"
	codeParameterValue   = "22023"
	codeText             = "22P02"
	codeBinary           = "22P03"
	codeSyntax           = "42601"
	codeNameTooLong      = "42622"
	codeNoObject         = "42704"
	codeCannotCoerce     = "42846"
	codeNoFunction       = "42883"
	codeNoParameter      = "42P02"
	codeAmbiguous        = "42P08"
	codeIndeterminate    = "42P18"
	codeProgramLimit     = "54000"
	codeTooManyColumns   = "54011"
	codeTooManyArguments = "54023"
	codePrerequisite     = "55000"
)

// quotedText is the largest number of characters of the client's text in an error.
const quotedText = 120

const hintAnswered = "This database answers SELECT next_snowflake(), SELECT next_snowflake() FROM " +
	"generate_series(1, n), SELECT * FROM next_snowflakes(n), and the same with next_segment('tag') and " +
	"next_segments('tag', n); n is 1 to 10000. SHOW HELP tells the rest. " +
	"Tables are behind the proxy's other databases."

func failf(code, hint, format string, values ...any) problem.Error {
	return problem.Errorf(code, hint, format, values...)
}

// notAnswered refuses a statement that PostgreSQL may well accept.
func notAnswered(text []byte) problem.Error {
	return failf(codeNotSupported, hintAnswered, "this statement is not answered without PostgreSQL: %s", quote(text))
}

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
