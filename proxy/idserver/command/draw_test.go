package command

import (
	"strings"
	"testing"

	"pgflurry/proxy/statement"
)

func TestAnErrorOfATagNamesTheFunctionThatTheStatementCalls(t *testing.T) {
	for sql, function := range map[string]string{
		"SELECT next_segment($1)":                                      "next_segment",
		"SELECT * FROM next_segments($1, 5)":                           "next_segments",
		"SELECT pgflurry.next_segment($1) FROM generate_series(1, $2)": "next_segment",
	} {
		form, ok := statement.Match([]byte(sql))
		if !ok {
			t.Fatalf("%s is no form", sql)
		}
		if err := (Draw{Form: form}).checkTag("", true); !strings.HasPrefix(err.Error(), function+": the tag has 0") {
			t.Errorf("%s: %v; expected the name %s", sql, err, function)
		}
	}
}
