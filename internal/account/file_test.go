package account

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

// written makes a file with a text.
func written(t testing.TB, text string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "userlist.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return NewFile(path)
}

func TestAFileOfPgBouncerIsRead(t *testing.T) {
	a, b := verifier(t, "right", 1), verifier(t, "other", 1)
	text := fmt.Sprintf("\ufeff; clients of the ID database\r\n\r\n# more\n\"plain\" \"%s\"\r\n"+
		"  \"with \"\"quotes\"\" and; #\"\t\"%s\" ; behind\n\"certificate\" \"\"\n\"last\" \"%s\"", a.Text(), b.Text(),
		a.Text())
	l, err := written(t, text).Read(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"plain": a.Text(), `with "quotes" and; #`: b.Text(), "certificate": "", "last": a.Text(),
	} {
		got, found := l.Find(name)
		if !found || got.Verifier.Text() != want || got.ConnectionLimit != NoLimit || !got.MayLogIn(now) {
			t.Errorf("%q: found %v, %v", name, found, got)
		}
	}
	if l.Len() != 4 || !l.Read().Equal(now) {
		t.Errorf("%d accounts, read at %v", l.Len(), l.Read())
	}
}

func TestAccountInvariant5AFileIsRefusedWithTheLineAndNothingOfIt(t *testing.T) {
	good := verifier(t, "right", 1).Text()
	for line, says := range map[string]string{
		`"a" "md5` + strings.Repeat("5", 32) + `"`: "md5 hash",
		`"a" "sesame"`:                              "may be a password in clear text",
		`"a"`:                                       "no verifier",
		`"a" sesame`:                                "no verifier",
		`"a" "` + good:                              "no verifier",
		`sesame "` + good + `"`:                     "does not begin with a name",
		`"a" "` + good + `" "sesame"`:               "something stands behind",
		`"" "` + good + `"`:                         "the name is empty",
		`"` + strings.Repeat("n", 64) + `" ""`:      "64 bytes; expected at most 63",
		"\"sesame\x01\" \"\"":                       "control character",
		"\"sesame\xff\" \"\"":                       "not UTF-8",
		`"first" ""`:                                "stands in line 1, too",
		`"a" "` + good[:len(good)-1] + `"`:          "malformed server key",
		`"a" "` + strings.Replace(good, "$", "", 1): "no verifier",
	} {
		_, err := written(t, "\"first\" \"\"\n"+line+"\n").Read(t.Context(), now)
		if err == nil {
			t.Errorf("%s is read", line)
			continue
		}
		said := err.Error() + fault.HintOf(err)
		if !strings.Contains(said, "userlist.txt: line 2: ") || !strings.Contains(said, says) ||
			!strings.Contains(said, "Expected on each line") || fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %s; expected %q", line, said, says)
		}
		_, said, _ = strings.Cut(said, "userlist.txt") // the path has a random number
		if strings.Contains(said, "sesame") || strings.Contains(said, "555") || strings.Contains(said, good[20:30]) {
			t.Errorf("%s: the error repeats it: %s", line, said)
		}
	}
}

func TestAFileThatCannotBeReadAgainIsRefused(t *testing.T) {
	_, err := NewFile(t.TempDir()).Read(t.Context(), now)
	if err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
	_, err = NewFile(filepath.Join(t.TempDir(), "none")).Read(t.Context(), now)
	if err == nil || fault.KindOf(err) != fault.Usage {
		t.Errorf("a file that is not there: %v", err)
	}
	_, err = written(t, strings.Repeat("; a comment\n", maxFile/12+1)).Read(t.Context(), now)
	if err == nil || !strings.Contains(err.Error(), "larger than 16 MB") {
		t.Errorf("a large file: %v", err)
	}
}

func TestTheMocksOfAFileAreKeptWhenItIsReadAgain(t *testing.T) {
	f := written(t, "\"a\" \"\"\n")
	one, err := f.Read(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path(), []byte("\"b\" \"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	two, err := f.Read(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	if one.Mock("x").Text() != two.Mock("x").Text() || one.Same(two) {
		t.Error("the mock of a name has changed with the file, or the file is not read again")
	}
	other, err := NewFile(f.Path()).Read(t.Context(), now)
	if err != nil || other.Mock("x").Text() == one.Mock("x").Text() {
		t.Errorf("another process has the same mock: %v", err)
	}
}
