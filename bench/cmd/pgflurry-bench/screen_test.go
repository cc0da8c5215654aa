package main

import "testing"

func TestTheFirstVariableOfTheLocaleThatIsSetSaysWhatAScreenCanShow(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false},
		{"", "", "C.UTF-8", true},
		{"", "", "de_DE.utf8", true},
		{"", "POSIX", "C.UTF-8", false},
		{"en_US.UTF-8", "POSIX", "C", true},
		{"C", "C.UTF-8", "C.UTF-8", false},
		{"", "", "de_DE.ISO-8859-1", false},
	} {
		variables := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := speaksUTF8(func(name string) string { return variables[name] }); got != c.want {
			t.Errorf("%v: %v; expected %v", variables, got, c.want)
		}
	}
}
