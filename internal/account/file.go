package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/proxy/scram"
)

// maxFile limits a file of accounts, in bytes. A file of 10,000 accounts has 2 MB.
const maxFile = 16 << 20

// File is a file of accounts in the format of PgBouncer's userlist. Each line has a name and a verifier in double
// quotes. A quote inside is doubled. ; and # begin a comment, at the start of a line or after the verifier. An account
// with an empty verifier logs in only with a certificate. md5 hashes and passwords are refused.
type File struct {
	file   *connect.File
	secret []byte
}

// NewFile makes a File; it reads nothing yet. Use one File as long as the process runs, because it has the secret of
// the mocks.
func NewFile(path string) *File {
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails
	return &File{connect.NewFile(path, maxFile), secret}
}

// Path returns the name of the file.
func (f *File) Path() string { return f.file.Path() }

// String returns the name of the file, and not the secret: for logs.
func (f *File) String() string { return f.Path() }

// GoString returns String.
func (f *File) GoString() string { return f.Path() }

// Read reads the file at the time now. It returns when ctx ends, and after a few seconds at the latest. Of the content,
// an error shows only the number of a line.
func (f *File) Read(ctx context.Context, now time.Time) (*List, error) {
	text, err := f.file.Read(ctx)
	if err != nil {
		return nil, fault.WithKind(fault.Usage, err)
	}
	accounts, err := parseFile(string(text))
	if err != nil {
		return nil, fault.WithKind(fault.Usage, fault.WithHint(fmt.Errorf("%s: %w", f.Path(), err),
			`Expected on each line: "name" "SCRAM-SHA-256$…", the verifier as pg_authid.rolpassword has it.`))
	}
	return NewList(accounts, f.secret, now), nil
}

// parseFile reads the text of a file.
func parseFile(text string) ([]Account, error) {
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
