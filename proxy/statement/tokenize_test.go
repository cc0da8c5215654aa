package statement

import (
	"strings"
	"testing"
)

func TestTokenizerReadsTokensAsPostgreSQLDoes(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{"Select a$1_ \"A\"\"b\" 007 $12", "w:select w:a$1_ q:A\"b n:007 $:12"},
		{"a.b(*),c;::", "w:a . w:b ( * ) , w:c ; ::"},
		{"a/* /* */ */b--x\rc", "w:a w:b w:c"},
		{"1)", "n:1 )"},
		{"1 a", "n:1 w:a"},
		{"1a", "?"},
		{"0x1", "?"},
		{"1_0", "?"},
		{"$1a", "?"},
		{"$", "?"},
		{"$a", "?"},
		{": :", "?"},
		{"'", "?"},
		{"'a b'", "s:a b"},
		{"'A''b'\"q\"", "s:A'b q:q"},
		{"''", "s:"},
		{"'a'\n'b'", "s:a s:b"},
		{"e'a'", "w:e s:a"},
		{"'a", "?"},
		{"'a''", "?"},
		{`'a\b'`, "?"},
		{"'\x00'", "?"},
		{"'é'", "?"},
		{"'" + strings.Repeat("x", 128) + "'", "s:" + strings.Repeat("x", 128)},
		{"'" + strings.Repeat("x", 129) + "'", "?"},
		{`""`, "?"},
		{`"a`, "?"},
		{"a\vb", "w:a ?"},
		{"a+", "w:a ?"},
		{"a/b", "w:a ?"},
		{"a-b", "w:a ?"},
		{"é", "?"},
		{"/* ", "?"},
		{strings.Repeat("9", 64), "?"},
		{strings.Repeat("x", 64), "?"},
	} {
		z := tokenizer{cursor: cursor{sql: []byte(c.sql)}}
		var got []string
		for kind := z.next(); kind != KindEnd; kind = z.next() {
			switch kind {
			case KindWord, KindQuoted, KindNumber, KindParam, KindString:
				got = append(got, string(kind)+":"+string(z.text()))
			case KindCast:
				got = append(got, "::")
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
	}
}
