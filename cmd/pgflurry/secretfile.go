package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

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

// readSecret is what a file holds, without the newlines at its end. No error repeats any of it.
func readSecret(file, origin string) (string, error) {
	content, err := readAtMost(file, largestSecret)
	if err != nil {
		return "", fmt.Errorf("%s names the file %s, which cannot be used: %w", origin, connstring.Shown(file), err)
	}
	text := strings.TrimRight(string(content), "\r\n")
	if text == "" {
		return "", fmt.Errorf("%s names the file %s, which is empty; expected the value in it",
			origin, connstring.Shown(file))
	}
	return text, nil
}

// A pipe may be empty for so long: who starts the writer may start it last. pipePause is between two looks.
const (
	pipeTime  = 5 * time.Second
	pipePause = 10 * time.Millisecond
)

// readAtMost reads a file of a limited size. Its errors do not repeat the name. A pipe is not waited for without end:
// at a SIGHUP the writer of the start has gone, as that of <(…) in a shell has.
func readAtMost(file string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // the opening of a pipe would wait for a writer
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	late := time.Now().Add(pipeTime)
	_ = f.SetReadDeadline(late) // a file on a disk has none, and needs none
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	for err == nil && len(content) == 0 && isPipe(f) && time.Now().Before(late) {
		time.Sleep(pipePause)
		content, err = io.ReadAll(io.LimitReader(f, limit+1))
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), err == nil && len(content) == 0 && isPipe(f):
		return nil, fmt.Errorf("it is a pipe, and nobody wrote all of it within %v", pipeTime)
	case err != nil:
		return nil, withoutPath(err)
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("it is larger than %d kB", limit>>10)
	}
	return content, nil
}

// isPipe says that a file has its content from a writer.
func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// withoutPath is the cause alone: who puts a connection string where the name of a file belongs finds it in no message.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
