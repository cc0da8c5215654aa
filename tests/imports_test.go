// Package tests holds what concerns the whole house. The black-box tests are in the folders below.
package tests

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The import rules, stated once. A package may import those of ours that its line names, and modules that its line
// names; the standard library is open to all. A package without a line fails the test.
var rules = map[string]struct{ ours, modules []string }{
	"generator":       {},
	"sqlfuncs":        {},
	"acknowledge":     {modules: []string{"github.com/jackc/pgx/v5"}},
	"reminder":        {},
	"hint":            {},
	"connstring":      {ours: []string{"hint"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"lease":           {ours: []string{"acknowledge", "reminder"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"segment":         {ours: []string{"acknowledge", "reminder"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"proxy/statement": {},
	"proxy/frame":     {},
	"proxy/pgtls":     {},
	"proxy": {ours: []string{"proxy/frame", "proxy/pgtls", "proxy/statement"}, modules: []string{
		"github.com/jackc/pgx/v5", "github.com/xdg-go/scram", "github.com/xdg-go/stringprep",
	}},
	"postgres":   {modules: []string{"github.com/jackc/pgx/v5"}},
	"namespace":  {ours: []string{"generator"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"migrations": {ours: []string{"generator", "namespace", "sqlfuncs"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"node": {ours: []string{
		"connstring", "generator", "hint", "lease", "namespace", "proxy", "proxy/pgtls", "reminder", "segment",
	}, modules: []string{"github.com/jackc/pgx/v5"}},
	"cmd/pgflurry": {
		ours:    []string{"connstring", "generator", "hint", "lease", "migrations", "namespace", "node", "postgres"},
		modules: []string{"github.com/jackc/pgx/v5", "github.com/spf13/cobra", "github.com/spf13/pflag"},
	},

	// the benchmark's module
	"bench":            {},
	"bench/statistics": {},
	"bench/trial":      {modules: []string{"golang.org/x/sys"}},
	"bench/report": {
		ours: []string{"bench/statistics", "bench/trial"}, modules: []string{"github.com/aclements/go-moremath"},
	},
	"bench/driver": {ours: []string{"bench/trial"}, modules: []string{
		"github.com/jackc/pgx/v5", "github.com/HdrHistogram/hdrhistogram-go", "github.com/redis/go-redis/v9",
		"github.com/go-sql-driver/mysql",
	}},
	"bench/servers": {ours: []string{"bench/driver", "postgres"}, modules: []string{"github.com/go-sql-driver/mysql"}},
	"bench/suites": {
		ours:    []string{"bench/driver", "bench/report", "bench/servers", "bench/statistics", "bench/trial"},
		modules: []string{"github.com/jackc/pgx/v5"},
	},
	"bench/suites/inprocess": {ours: []string{"bench/report", "bench/trial", "generator", "lease"}, modules: rivals},
	"bench/charts": {
		ours: []string{"bench/report", "bench/statistics", "bench/trial"}, modules: []string{"gonum.org/v1/plot"},
	},
	"bench/console": {ours: []string{"bench/charts", "bench/report", "bench/trial"}, modules: []string{
		"github.com/schollz/progressbar/v3",
	}},
	"bench/cmd/pgflurry-bench": {ours: []string{
		"bench/console", "bench/driver", "bench/report", "bench/servers", "bench/suites",
		"bench/suites/inprocess", "bench/trial",
	}, modules: []string{"github.com/spf13/cobra"}},
}

// rivals are libraries for IDs that the benchmark measures.
var rivals = []string{
	"github.com/bwmarrin/snowflake", "github.com/sony/sonyflake", "github.com/oklog/ulid/v2", "github.com/rs/xid",
	"github.com/google/uuid",
}

// benchOnly are required by the benchmark's module and not by the product's.
var benchOnly = append([]string{
	"pgflurry/bench", "gonum.org/v1/plot", "github.com/redis/go-redis/v9", "github.com/go-sql-driver/mysql",
	"github.com/HdrHistogram/hdrhistogram-go", "github.com/schollz/progressbar/v3", "github.com/aclements/go-moremath",
}, rivals...)

// nested are the other modules of the house: their packages are not among those of go list pgflurry/... .
var nested = []string{"bench", "tests/clients/go"}

// neverLinked must not be in any program, not even through another module: it is for tests.
var neverLinked = []string{
	"github.com/jackc/pgproto3/v2", "github.com/wasilibs/go-pgquery", "pgregory.net/rapid", "go.uber.org/goleak",
	"github.com/ory/dockertest/v3", "github.com/Shopify/toxiproxy/v2", "github.com/rs/zerolog",
}

type goPackage struct {
	ImportPath, Name string
	Imports, Deps    []string
}

func TestPackagesImportOnlyWhatTheirLayerMay(t *testing.T) {
	for _, p := range append(packages(t), nestedPackages(t)...) {
		name := strings.TrimPrefix(p.ImportPath, "pgflurry/")
		if strings.HasPrefix(name, "tests") || name == "bench/tests" {
			continue // may import everything
		}
		rule, known := rules[name]
		if !known {
			t.Errorf("package %s has no line in the import rules", name)
			continue
		}
		for _, path := range p.Imports {
			switch own, ours := strings.CutPrefix(path, "pgflurry/"); {
			case ours:
				if !slices.Contains(rule.ours, own) || strings.HasPrefix(own, "tests") {
					t.Errorf("%s imports %s, which its layer may not know", name, own)
				}
			case strings.Contains(strings.Split(path, "/")[0], "."):
				if !slices.ContainsFunc(rule.modules, func(m string) bool {
					return path == m || strings.HasPrefix(path, m+"/")
				}) {
					t.Errorf("%s imports %s, which has no line in the import rules", name, path)
				}
			}
		}
	}
}

func TestNoProgramLinksWhatIsForTests(t *testing.T) {
	programs := 0
	for _, p := range packages(t) {
		if p.Name != "main" {
			continue
		}
		programs++
		for _, dep := range p.Deps {
			if slices.ContainsFunc(neverLinked, func(m string) bool {
				return dep == m || strings.HasPrefix(dep, m+"/")
			}) {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
	}
	if programs == 0 {
		t.Error("no program was found")
	}
}

// nestedPackages are those of the benchmark's module. Their imports are read from the files, because go list would want
// the modules of others, which a machine that builds the product does not have.
func nestedPackages(t *testing.T) []goPackage {
	t.Helper()
	imports := make(map[string][]string)
	err := filepath.WalkDir("../bench", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../"))
		imports[name] = append(imports[name], nil...) // a package that imports nothing is one too
		for _, imported := range file.Imports {
			imports[name] = append(imports[name], strings.Trim(imported.Path.Value, `"`))
		}
		return nil
	})
	if err != nil || len(imports) == 0 {
		t.Fatalf("%d packages below bench, error %v", len(imports), err)
	}
	var all []goPackage
	for name, paths := range imports {
		all = append(all, goPackage{ImportPath: name, Imports: paths})
	}
	return all
}

func TestEveryModuleThatIsImportedHasItsSentenceAndTheProductsImportsNothingOfTheBenchmark(t *testing.T) {
	contributing, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"..": true}
	for _, folder := range nested {
		known[filepath.Join("..", folder)] = true
	}
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "go.mod" {
			return err
		}
		if !known[filepath.Dir(path)] {
			t.Errorf("%s is no module of the list", path)
		}
		out, err := exec.Command("go", "mod", "edit", "-json", path).Output()
		if err != nil {
			return err
		}
		var module struct {
			Require []struct {
				Path     string
				Indirect bool
			}
		}
		if err := json.Unmarshal(out, &module); err != nil {
			return err
		}
		for _, required := range module.Require {
			switch {
			case required.Indirect || required.Path == "pgflurry":
			case filepath.Dir(path) == ".." && slices.Contains(benchOnly, required.Path):
				t.Errorf("the product's module requires %s, which only that of the benchmark may", required.Path)
			case !strings.Contains(string(contributing), "`"+strings.TrimPrefix(required.Path, "github.com/")+"`"):
				t.Errorf("%s, which %s requires, has no sentence in CONTRIBUTING.md", required.Path, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func packages(t *testing.T) (all []goPackage) {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Deps", "pgflurry/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
