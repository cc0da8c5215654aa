package deeds

import (
	"os"
	"testing"
)

// Program is a program that does deeds. Its words may contain {out}, the folder for the result of Build.
type Program struct {
	Name        string   // in the page's table
	Source      string   // the program, below the suite's folder
	Build       []string // command that builds it, if needed
	Command     []string // runs it
	Environment []string // more variables, NAME=value
	Mode        string   // CLIENT_MODE
	Packages    string   // in Debian, npm or Go modules
	First       bool     // in the first group, which CI runs
}

// Wanted skips a test of programs that have to be installed, unless somebody asks for them.
func Wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_CLIENTS") == "" {
		t.Skip("PGFLURRY_TEST_CLIENTS is not set: make test-clients installs the programs and runs them")
	}
}

// All says whether all programs are asked for, and not only the first group.
func All() bool { return os.Getenv("PGFLURRY_TEST_CLIENTS") == "all" }

// Asked returns the version of a program, or skips the test if PGFLURRY_TEST_CLIENTS does not ask for it. install is
// the script that installs what the suite needs.
func (m *Maker) Asked(t *testing.T, p Program, install string) string {
	t.Helper()
	switch asked := os.Getenv("PGFLURRY_TEST_CLIENTS"); {
	case asked == "1" && !p.First:
		t.Skip("not of the first group, and PGFLURRY_TEST_CLIENTS is 1")
	case asked != "1" && asked != "all":
		t.Fatalf("PGFLURRY_TEST_CLIENTS is %q; expected 1 (the first group) or all", asked)
	}
	version, err := m.Version(p)
	if err != nil {
		t.Fatalf("%s does not run: %s gets it (%s)\n%v", p.Name, install, p.Packages, err)
	}
	return version
}
