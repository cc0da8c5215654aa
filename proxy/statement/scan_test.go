package statement

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasilibs/go-pgquery"
)

// scanned is a text with the tokens of a Scanner: the kind, and after a colon the text of tokens that have one.
var scanned = []struct{ sql, want string }{
	{"", ""},
	{"Select a$1_ \"A\"\"b\" 007 $12", "w:select w:a$1_ q:A\"b n:007 $:12"},
	{"a.b(*),c;::[1]", "w:a . w:b ( * ) , w:c ; :: [ n:1 ]"},
	{"a/* /* é */ */b--é\rc", "w:a w:b w:c"},
	{"É\u00c9 \"É\"", "w:ÉÉ q:É"},
	{"1.5 .5 5. 1e3 1.e-3 1..2", "d:1.5 d:.5 d:5. d:1e3 d:1.e-3 n:1 o n:2"},
	{"1a", "? trailing junk after numeric literal"},
	{"1e", "? trailing junk after numeric literal"},
	{"0x1", "? trailing junk after numeric literal"},
	{"1_0", "? trailing junk after numeric literal"},
	{"$1a", "? trailing junk after parameter"},
	{"$", "? syntax error"},
	{"$a", "? syntax error"},
	{"a$$b", "w:a$$b"},
	{"$$a;'$b$$", "s:a;'$b"},
	{"$a$ $$ $b$ $a$", "s: $$ $b$ "},
	{"$é$x$é$", "s:x"},
	{"$$x", "? unterminated dollar-quoted string"},
	{"'a''b'\"q\"", "s:a'b q:q"},
	{`'a\' 'b'`, `s:a\ s:b`},
	{"'a' 'b'", "s:a s:b"},
	{"'a'\n'b'", "s:ab"},
	{"'a' -- x\n \t--y\r'b' /* z */\n'c'", "s:ab s:c"},
	{"'a' --x", "s:a"},
	{"'a'\n-'b'", "s:a - s:b"},
	{`E'\'\\\b\f\n\r\t\q\x41\x4\xg\101\7u\u0041\U00000041'`, "s:'\\\b\f\n\r\tqA\x04xgA\x07uAA"},
	{"e'a'\n'\\'b'", "s:a'b"},
	{`E'\xc3\xa9'`, "s:é"},
	{`E'\xff'`, "x"},
	{`E'\000'`, "x"},
	{`E'\v'`, "x"},
	{`E'\u00g1'`, "x"},
	{`E'\uD83D\uDE00'`, "x"},
	{`E'\'`, "? unterminated quoted string"},
	{`U&'\0041' u&"a" B'1' X'1f' n'a' e 'a'`, "x x x x w:n s:a w:e s:a"},
	{"B'1''0' x'1'\n'f'", "x s:0 x"},
	{"'", "? unterminated quoted string"},
	{"'a''", "? unterminated quoted string"},
	{`"a`, "? unterminated quoted identifier"},
	{`""`, "? zero-length delimited identifier"},
	{`U&""`, "? zero-length delimited identifier"},
	{"/* /* */", "? unterminated /* comment"},
	{"+ - -- x\n<= =- => @- =-@ a/*x*/+/**/* !", "+ - o = - o o o w:a + * o"},
	{": := ::: .", "o o :: o ."},
	{"a\vb", "w:a ? syntax error"},
	{"{", "? syntax error"},
	{`\`, "? syntax error"},
	{strings.Repeat("&", 63), "o"},
	{strings.Repeat("&", 64), "? operator too long"},
	{strings.Repeat("&", 64) + "-", "? operator too long"},
	{strings.Repeat("*", 63) + strings.Repeat("-+", 40), "o " + strings.TrimSpace(strings.Repeat("- + ", 40))},
}

func TestScannerReadsTokensAsPostgreSQLDoes(t *testing.T) {
	for _, c := range scanned {
		s := Scan([]byte(c.sql))
		var got []string
		for kind := s.Next(); kind != KindEnd; kind = s.Next() {
			switch kind {
			case KindWord, KindQuoted, KindNumber, KindDecimal, KindParam, KindString:
				got = append(got, string(kind)+":"+s.Text())
			case KindCast:
				got = append(got, "::")
			case KindBad:
				got = append(got, "? "+s.Problem())
			default:
				got = append(got, string(kind))
			}
			if kind == KindBad {
				break
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("tokens of %q are %q; want %q", c.sql, got, c.want)
		}
		checkScan(t, c.sql)
	}
}

// commented is a string that continues behind a comment. The parser of the tests treats a comment as a token, so it
// reads two strings. A server reads one.
var commented = regexp.MustCompile(`'[\s]*--[^\n\r]*[\n\r][^']*'`)

// checkScan asserts that PostgreSQL's lexer and the Scanner find the same tokens.
func checkScan(t *testing.T, sql string) {
	t.Helper()
	if !utf8.ValidString(sql) || strings.Contains(sql, "\x00") {
		return
	}
	type token struct{ start, stop int }
	var got []token
	other := false
	s := Scan([]byte(sql))
	kind := s.Next()
	for ; kind != KindEnd && kind != KindBad; kind = s.Next() {
		if commented.Match(s.Source()) {
			return
		}
		got = append(got, token{s.Start, s.Stop})
		other = other || kind == KindOther
	}
	if kind == KindBad {
		return
	}
	scan, err := pg_query.Scan(sql)
	if err != nil {
		if !other {
			t.Fatalf("the scanner reads %q as %v, but PostgreSQL's lexer: %v", sql, got, err)
		}
		return
	}
	var want []token
	for _, x := range scan.Tokens {
		if name := x.Token.String(); name != "SQL_COMMENT" && name != "C_COMMENT" {
			want = append(want, token{int(x.Start), int(x.End)})
		}
	}
	if len(got) != len(want) {
		t.Fatalf("the scanner reads %q as %v, but PostgreSQL's lexer as %v", sql, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("the scanner reads %q as %v, but PostgreSQL's lexer as %v", sql, got, want)
		}
	}
}

// FuzzScan looks for a text that the Scanner divides differently from PostgreSQL.
func FuzzScan(f *testing.F) {
	for _, c := range scanned {
		f.Add(c.sql)
	}
	f.Fuzz(checkScan)
}

// These are the longest inputs that make a reader go back. Each was quadratic when every token looked for its end anew.
func TestScannerReadsEachByteABoundedNumberOfTimes(t *testing.T) {
	for _, part := range []string{
		"'a'\n", "'a' -- x\n", "$a", "$$;", "/*", "/**/", "e'\\", `"a""`, "--\n", "1.", "+-",
		"(",
	} {
		sql := strings.Repeat(part, 1<<20/len(part))
		steps := 0
		s := Scan([]byte(sql))
		for kind := s.Next(); kind != KindEnd && kind != KindBad; kind = s.Next() {
			steps++
		}
		if steps > len(sql) {
			t.Errorf("%.20q…: %d tokens in %d bytes", sql, steps, len(sql))
		}
	}
}
