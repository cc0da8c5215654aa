package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// A secret may hold a password: each flag that takes a connection string. Instead of its value, it may be given as the
// name of a file that holds it, as Docker and Kubernetes hand over secrets. The variable for that is
// PGFLURRY_LEASE_DATABASE_FILE, the key lease-database-file. Nothing ever shows the value of a secret.

// These suffixes make a variable or a key name the file of a secret.
const (
	VariableOfFile = "_FILE"
	keyOfFile      = "-file"
)

// largestSecret limits the size of a secret's file, in bytes. A connection string is far smaller.
const largestSecret = 64 << 10

// secret takes the value of a flag from the file that origin names.
func (c *Values) secret(values place, f *pflag.Flag, file, origin string) {
	text, err := "", noConsent(f, origin)
	if err == nil {
		text, err = ReadSecret(file, origin)
	}
	if err != nil {
		c.refuse(f.Name, err)
		return
	}
	c.secrets = append(c.secrets, file)
	values[f.Name] = given{values: []string{text}, origin: "the file of " + origin}
}

// twice is the error of a secret that is given both as a value and as a file.
func twice(value, file string) error {
	return fmt.Errorf("%s and %s are both set; expected one of them", value, file)
}

// ReadSecret returns the content of a file without the newlines at its end. No error repeats any of it.
func ReadSecret(file, origin string) (string, error) {
	content, err := readOnce(file, largestSecret)
	if err != nil {
		err = fmt.Errorf("%s names the file %s, which cannot be used: %w", origin, connect.Shown(file), err)
		if errors.Is(err, fs.ErrPermission) {
			return "", fault.WithHint(err, fmt.Sprintf("Let user %d read it, as which this process runs. "+
				"Docker mounts a secret of Compose with the owner and the mode of its file.", os.Getuid()))
		}
		return "", err
	}
	text := strings.TrimRight(string(content), "\r\n")
	if text == "" {
		return "", fmt.Errorf("%s names the file %s, which is empty; expected the value in it",
			origin, connect.Shown(file))
	}
	return text, nil
}

// readOnce reads a file of limited size. Its errors do not repeat the name.
func readOnce(file string, limit int64) ([]byte, error) {
	content, err := connect.ReadFileOrPipe(file, limit)
	return content, withoutPath(err)
}

// withoutPath reduces an error to its cause. The user may have given a connection string in place of a file name, and
// no message may show that.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
