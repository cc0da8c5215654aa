package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"pgflurry/internal/namespace"
)

// newVersion builds "pgflurry version".
func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show tag, commit and schema revision of this program",
		Long: `version says what this program is: its tag, the commit of its sources, and the Go that built it. The
second line is the revision of the schema that it brings. "pgflurry migrate status" says what a database
has.

A build of no tag is called "devel-" and its commit. A tag that ends in "+dirty" means that files
differed from the commit.

--json prints one object: version, commit, commit_at, modified, schema_revision, go, system, tested.
` + jsonRules,
		Example: `  pgflurry version
  pgflurry version --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			built, out := readBuild(), cmd.OutOrStdout()
			if asJSON {
				return printObject(out, built.described())
			}
			_, err := fmt.Fprintf(out, "pgflurry %s\nschema revision %d\n", built, namespace.Revision)
			if err == nil && !tested {
				_, err = fmt.Fprintln(out, "tested on Linux; for this system it is only compiled and vetted")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// tested says whether the tests of this project run on the system of this program.
const tested = runtime.GOOS == "linux"

// described is a build as "version --json" prints it.
func (b build) described() any {
	return struct {
		Version  string `json:"version"`
		Commit   any    `json:"commit"`
		At       any    `json:"commit_at"`
		Modified bool   `json:"modified"`
		Revision int    `json:"schema_revision"`
		Go       string `json:"go"`
		System   string `json:"system"`
		Tested   bool   `json:"tested"`
	}{
		b.version(), known(b.revision), known(b.at), b.modified, namespace.Revision, runtime.Version(),
		runtime.GOOS + "/" + runtime.GOARCH, tested,
	}
}
