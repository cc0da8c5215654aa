package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pgflurry/connstring"
)

// ParseAddress reads an address as people give it. A path is a Unix socket; of a directory, PostgreSQL's socket in it.
// The flag it came with stands in the error.
func ParseAddress(flag, address string) (network, place string, err error) {
	switch {
	case address == "":
		return "", "", fmt.Errorf("--%s is missing; expected HOST:PORT or the path of a Unix socket", flag)
	case filepath.IsAbs(address):
		if info, err := os.Stat(address); err == nil && info.IsDir() {
			address = filepath.Join(address, ".s.PGSQL.5432")
		}
		return "unix", address, nil
	case !strings.Contains(address, ":"), connstring.MayHoldPassword(address):
		return "", "", fmt.Errorf("--%s is %s; expected HOST:PORT or the absolute path of a Unix socket",
			flag, connstring.Shown(address))
	}
	return "tcp", address, nil
}
