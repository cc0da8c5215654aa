package connect

import (
	"strings"
	"testing"
)

func TestAFileWithoutAnEndInAConnectionStringIsRefused(t *testing.T) {
	for _, url := range []string{
		"postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/dev/zero", "host=h sslrootcert = '/dev/zero' user=u",
		"postgres://u:secret@h/d?passfile=%2Fdev%2Fzero", `sslrootcert=/dev/\zero host=h`,
	} {
		_, err := Parse("database", url)
		if err == nil || !strings.Contains(err.Error(), "--database: the file of its") ||
			strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "zero") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := Parse("database", "postgres://u@h/d?passfile=/not/there"); err != nil {
		t.Errorf("a password file that is missing: %v", err)
	}
}
