package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
)

// secretFlags may hold a password: all flags that take a connection string, of whatever command. Each may be given as
// the name of a file that has the value, which is how Docker and Kubernetes hand secrets over: by the variable
// PGFLURRY_LEASE_DATABASE_FILE, or by the key lease-database-file. None of their values is ever shown.
var secretFlags = []string{"database", "join", "lease-database", "postgres"}

// What is added to the name of a secret's variable or key, where its value is the name of a file.
const (
	variableOfFile = "_FILE"
	keyOfFile      = "-file"
)

// largestSecret is how much a file with a secret may hold, in bytes: a connection string is far smaller.
const largestSecret = 64 << 10

func isSecret(f *pflag.Flag) bool { return slices.Contains(secretFlags, f.Name) }

// secret takes the value of a flag from a file that origin has named.
func (c *configuration) secret(values place, f *pflag.Flag, file, origin string) {
	text, err := "", noConsent(f, origin)
	if err == nil {
		text, err = readSecret(file, origin)
	}
	if err != nil {
		c.refuse(f.Name, err)
		return
	}
	values[f.Name] = given{values: []string{text}, origin: "the file of " + origin}
}

// twice is the error of a secret that two names give.
func twice(value, file string) error {
	return fmt.Errorf("%s and %s are both set; expected one of them", value, file)
}

// readSecret is what a file holds, without the newline that an editor puts at its end. No error repeats any of it.
func readSecret(file, origin string) (string, error) {
	content, err := readAtMost(file, largestSecret)
	if err != nil {
		return "", fmt.Errorf("%s names the file %s, which cannot be used: %w", origin, connstring.Shown(file), err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if text == "" {
		return "", fmt.Errorf("%s names the file %s, which is empty; expected the value in it",
			origin, connstring.Shown(file))
	}
	return text, nil
}

// readAtMost reads a file of a limited size. Its errors do not repeat the name.
func readAtMost(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("it is larger than %d kB", limit>>10)
	}
	return content, nil
}

// withoutPath is the cause alone: who puts a connection string where the name of a file belongs finds it in no message.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
