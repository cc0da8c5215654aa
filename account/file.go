package account

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"pgflurry/hint"
	"pgflurry/outcome"
	"pgflurry/proxy/scram"
)

// maxFile is how large a file of accounts may be, in bytes: that of 10,000 has 2 MB.
const maxFile = 16 << 20

// File is a file of accounts in the format of PgBouncer's userlist: on each line a name and a verifier, both in double
// quotes, a quote inside doubled. ; and # begin a comment, at the start of a line or behind the verifier. An empty
// verifier is an account that logs in with a certificate alone. Nothing else may stand there: no md5 hash, no password.
type File struct {
	path   string
	secret []byte
}

// NewFile names a file. Nothing is read yet. One File serves as long as the process: it has the secret of the mocks.
func NewFile(path string) *File {
	secret := make([]byte, secretSize)
	rand.Read(secret) // it never fails
	return &File{path, secret}
}

// Path is the name of the file.
func (f *File) Path() string { return f.path }

// String is the name of the file, and no secret: for logs.
func (f *File) String() string { return f.path }

// GoString is String.
func (f *File) GoString() string { return f.path }

// Read reads the file; now is when. An error repeats nothing of the file but the number of a line.
func (f *File) Read(now time.Time) (*List, error) {
	text, err := f.text()
	if err != nil {
		return nil, outcome.As(outcome.Usage, err)
	}
	accounts, err := parseFile(text)
	if err != nil {
		return nil, outcome.As(outcome.Usage, hint.With(fmt.Errorf("%s: %w", f.path, err),
			`Expected on each line: "name" "SCRAM-SHA-256$…", the verifier as pg_authid.rolpassword has it.`))
	}
	return NewList(accounts, f.secret, now), nil
}

func (f *File) text() (string, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if mode := info.Mode(); !mode.IsRegular() {
		return "", fmt.Errorf("%s is no regular file but %v; it has to be read again later", f.path, mode.Type())
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(content) > maxFile {
		return "", fmt.Errorf("%s is larger than %d MB", f.path, maxFile>>20)
	}
	return string(content), nil
}

// parseFile reads what a file has.
func parseFile(text string) ([]Account, error) {
	text = strings.TrimPrefix(text, "\ufeff") // as editors of Windows write it
	var accounts []Account
	lines := make(map[string]int)
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || comment(line) {
			continue
		}
		a, err := parseLine(line)
		if first := lines[a.Name]; err == nil && first > 0 {
			err = fmt.Errorf("the name stands in line %d, too", first)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		lines[a.Name] = number
		accounts = append(accounts, a)
	}
	return accounts, nil
}

func comment(line string) bool { return line[0] == ';' || line[0] == '#' }

func parseLine(line string) (Account, error) {
	name, rest, ok := quoted(line)
	if !ok {
		return Account{}, errors.New("it does not begin with a name in double quotes")
	}
	if err := CheckName(name); err != nil {
		return Account{}, err
	}
	text, rest, ok := quoted(strings.TrimLeft(rest, " \t"))
	switch {
	case !ok:
		return Account{}, errors.New("no verifier in double quotes stands behind the name")
	case rest != "" && !comment(strings.TrimLeft(rest, " \t")):
		return Account{}, errors.New("something stands behind the verifier")
	case text == "":
		return Account{Name: name, ConnectionLimit: NoLimit}, nil
	}
	verifier, err := scram.ParseVerifier(text)
	if err != nil {
		return Account{}, fmt.Errorf("behind the name: %w", err)
	}
	return Account{Name: name, Verifier: verifier, ConnectionLimit: NoLimit}, nil
}

// quoted takes a text in double quotes from the front of a line.
func quoted(line string) (text, rest string, ok bool) {
	line, ok = strings.CutPrefix(line, `"`)
	for ok {
		var part string
		if part, line, ok = strings.Cut(line, `"`); !ok {
			break
		}
		text += part
		if !strings.HasPrefix(line, `"`) {
			return text, line, true
		}
		text, line = text+`"`, line[1:]
	}
	return "", "", false
}
