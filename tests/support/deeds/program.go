package deeds

import (
	"os"
	"testing"
)

// Program is one that does deeds. Its words may hold {out}, a folder for what Build makes.
type Program struct {
	Name        string   // as the page's table shows it
	Language    string   // of its snippet, as Markdown names it, where a suite shows one snippet a program
	Source      string   // the program, below the suite's folder
	Build       []string // command that makes it, if it must be made
	Command     []string // runs it
	Environment []string // more variables, NAME=value
	Mode        string   // CLIENT_MODE
	Packages    string   // what has it in Debian, npm or Go modules
	First       bool     // one of the first group, which CI runs
}

// Wanted skips a test of programs that have to be installed, if nobody asks for them.
func Wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_CLIENTS") == "" {
		t.Skip("PGFLURRY_TEST_CLIENTS is not set: make test-clients installs the programs and runs them")
	}
}

// All says whether all programs are asked for, and not the first group alone.
func All() bool { return os.Getenv("PGFLURRY_TEST_CLIENTS") == "all" }

// Asked skips the test of a program that PGFLURRY_TEST_CLIENTS does not ask for, and gives the version of any other.
// Install is the script that installs what the suite needs.
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
