//go:build full

package printed

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// form is a way to print the migration.
type form func(io.Writer, migrations.Settings) error

var forms = map[string]form{"plain": migrations.Print, "escaped": migrations.PrintEscaped}

// text returns what a form prints.
func (f form) text(t testing.TB, s migrations.Settings) string {
	t.Helper()
	var out bytes.Buffer
	if err := f(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// parameters match what tools take for a parameter anywhere in a text of SQL, literals and comments included.
var parameters = map[string]*regexp.Regexp{
	"a question mark is a parameter to Knex and JDBC": regexp.MustCompile(`\?`),
	"a colon and a name are one to SQLAlchemy":        regexp.MustCompile(`(?m)(^|[^:\w]):[A-Za-z]`),
	"this is a placeholder of Flyway":                 regexp.MustCompile(`\$\{`),
	"this is a placeholder of tern and Jinja":         regexp.MustCompile(`\{[{%#]`),
	"a lone line of this ends a statement elsewhere":  regexp.MustCompile(`(?mi)^\s*(/|go|\\\.)\s*$`),
}

func TestNothingThatIsPrintedLooksLikeAParameter(t *testing.T) {
	t.Parallel()
	for name, f := range forms {
		text := f.text(t, migrations.Settings{})
		for why, pattern := range parameters {
			if at := pattern.FindStringIndex(text); at != nil {
				t.Errorf("%s: %s: %q", name, why, text[max(0, at[0]-40):min(len(text), at[1]+40)])
			}
		}
	}
}

func TestAnEscapedPrintHasNoSemicolonQuoteOrCommentButAtItsEnds(t *testing.T) {
	t.Parallel()
	text := migrations.PrintEscaped
	head, block, found := strings.Cut(form(text).text(t, migrations.Settings{}), "DO E'")
	inner, isLast := strings.CutSuffix(block, "';\n")
	if !found || !isLast || len(inner) < 100_000 {
		t.Fatalf("the text is not DO E'…'; but %q… of %d bytes", head, len(inner))
	}
	for _, mark := range []string{";", "'", "--", "/*", "$", "%", ":", "@", "{", "}"} {
		if at := strings.Index(inner, mark); at >= 0 {
			t.Errorf("the block holds %s: %q", mark, inner[max(0, at-40):min(len(inner), at+40)])
		}
	}
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, "-- ") || strings.ContainsAny(line, ";'$") {
			t.Errorf("the head has the line %q; expected a comment that no tool takes for more", line)
		}
	}
}
