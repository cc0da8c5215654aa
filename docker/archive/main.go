// Command archive packs folders into an OCI archive, as images for several architectures: docker/oci runs it. The same
// files give the same bytes, whenever they were made.
//
//	archive VERSION COMMIT SECONDS DIR
//
// SECONDS is the time of the commit since 1970. DIR has a folder for each architecture.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"
)

// A source is what the images are made of.
type source struct {
	version  string
	revision string    // of the commit
	at       time.Time // of the commit, and of each file in the archive
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "archive: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%d arguments; expected VERSION COMMIT SECONDS DIR", len(args))
	}
	seconds, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	from := source{version: args[0], revision: args[1], at: time.Unix(seconds, 0).UTC()}
	folders := os.DirFS(args[3])
	entries, err := fs.ReadDir(folders, ".")
	if err != nil {
		return err
	}
	contents := make(map[string]fs.FS)
	for _, entry := range entries {
		if contents[entry.Name()], err = fs.Sub(folders, entry.Name()); err != nil {
			return err
		}
	}
	return write(os.Stdout, from, contents)
}
