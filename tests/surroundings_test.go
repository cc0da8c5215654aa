package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// surroundings are functions that read the environment of a process, or end the process.
var surroundings = []string{
	"os.Args", "os.Environ", "os.Exit", "os.ExpandEnv", "os.Getenv", "os.LookupEnv", "syscall.Environ",
	"syscall.Exit", "syscall.Getenv", "log.Fatal", "log.Fatalf", "log.Fatalln",
	"pflag.CommandLine",
}

// flagModules read the command line. pflag's sets of flags are values, which internal/config/source gets and fills.
var flagModules = []string{"flag", "github.com/spf13/cobra"}

// surroundingsOf lists the exceptions, which internal/README.md also names: what each file uses.
var surroundingsOf = map[string]string{
	"internal/node/clock_steered.go": "os.Getenv",
	"internal/postgres/find.go":      "os.Getenv",
	"internal/postgres/initdb.go":    "os.Environ",
}

// mayReadSurroundings are the folders of programs and of tests.
var mayReadSurroundings = []string{"cmd", "tests", "bench/cmd", "bench/tests", "docker", "release"}

func TestBelowTheProgramsNothingReadsFlagsOrTheEnvironmentOrExits(t *testing.T) {
	files, met := 0, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		switch {
		case entry.IsDir() && (slices.Contains(mayReadSurroundings, name) || strings.HasPrefix(name, ".git")):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		for _, use := range usesOfSurroundings(t, path) {
			if surroundingsOf[name] != use {
				t.Errorf("%s uses %s, which is for the programs in cmd", name, use)
			}
			met[name] = true
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files were read, error %v", files, err)
	}
	for name := range surroundingsOf {
		if !met[name] {
			t.Errorf("%s is an exception, and needs none", name)
		}
	}
}

// usesOfSurroundings returns those of one file.
func usesOfSurroundings(t *testing.T, path string) (uses []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range file.Imports {
		if module := strings.Trim(imported.Path.Value, `"`); slices.Contains(flagModules, module) {
			uses = append(uses, module)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, is := n.(*ast.SelectorExpr); is {
			of, named := selector.X.(*ast.Ident)
			if named && slices.Contains(surroundings, of.Name+"."+selector.Sel.Name) {
				uses = append(uses, of.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return uses
}
