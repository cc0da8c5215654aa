package scram

import "testing"

// The expected forms follow from pg_saslprep in src/common/saslprep.c.
func TestPasswordsArePreparedAsPostgreSQLDoes(t *testing.T) {
	for password, want := range map[string]string{
		"":                 "",
		"right":            "right",
		"tab\there":        "tab\there",
		"a\u00a0b":         "a b",
		"I\u00adX":         "IX",
		"a\u1806b":         "ab",
		"\u1806":           "\u1806", // becomes nothing
		"\u00aa":           "a",
		"\u2168":           "IX",
		"a\u200bb":         "a b",              // a space, and also mapped to nothing
		"\u00ad":           "\u00ad",           // becomes nothing
		"\u00aa\U0001f642": "\u00aa\U0001f642", // unassigned in Unicode 3.2
		"\U0001f130":       "\U0001f130",       // the same; NFKC would make it A
		"\u0627\u0031":     "\u0627\u0031",     // begins right to left, but does not end so
		"\xff\u00aa":       "\xff\u00aa",       // not UTF-8
	} {
		if got := Prepare(password); got != want {
			t.Errorf("%+q is prepared as %+q; expected %+q", password, got, want)
		}
	}
}
