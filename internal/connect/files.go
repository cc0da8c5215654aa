package connect

import (
	"errors"
	"fmt"
	"io/fs"
	neturl "net/url"
	"regexp"
	"strings"
)

// largestFile limits the files that a connection string names, in bytes.
const largestFile = 4 << 20

// files matches the parameters that name a file. Parsing reads it, for as long as it takes.
var files = regexp.MustCompile(
	`(?:^|[\s?&])(sslcert|sslkey|sslrootcert|passfile|servicefile)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]*)`)

// checkFiles refuses a file that would keep parsing from its end. Parsing itself says if one is missing.
func checkFiles(url string) error {
	for _, found := range files.FindAllStringSubmatch(url, -1) {
		path := strings.ReplaceAll(strings.Trim(found[2], "'"), `\`, "")
		if plain, err := neturl.PathUnescape(path); err == nil && strings.Contains(url, "://") {
			path = plain
		}
		_, err := ReadFile(path, largestFile)
		if at := (*fs.PathError)(nil); errors.As(err, &at) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the file of its %s cannot be used: %w", found[1], at.Err)
		}
	}
	return nil
}
