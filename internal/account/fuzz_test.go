package account

import (
	"strings"
	"testing"
)

func FuzzAccountInvariant5AFileIsReadAsItWasWrittenOrRefusedWithoutAWord(f *testing.F) {
	text := verifier(f, "right", 1).Text()
	f.Add("\"a\" \"" + text + "\"\n; b\n\"c\"\"d\" \"\" # e\n")
	f.Add("\"a\" \"secret of somebody\"\n")
	f.Add("\ufeff\"a\"\r\n\"\"\"\" \"\"")
	f.Fuzz(func(t *testing.T, text string) {
		accounts, err := parseFile(text)
		if err != nil {
			for word := range strings.FieldsSeq(text) {
				if len(word) > 20 && strings.Contains(err.Error(), word) {
					t.Fatalf("the error repeats %q: %v", word, err)
				}
			}
			return
		}
		var again strings.Builder
		for _, a := range accounts {
			if err := CheckName(a.Name); err != nil {
				t.Fatalf("%q is read: %v", a.Name, err)
			}
			again.WriteString(`"` + strings.ReplaceAll(a.Name, `"`, `""`) + `" "` + a.Verifier.Text() + "\"\n")
		}
		same, err := parseFile(again.String())
		if err != nil || !NewList(same, nil, now).Same(NewList(accounts, nil, now)) || len(same) != len(accounts) {
			t.Fatalf("%q is read as %v, and written again as %v, %v", text, accounts, same, err)
		}
	})
}
