// Package tests holds what concerns the whole house. The black-box tests are in the folders below.
package tests

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The import rules, stated once. A package may import those of ours that its line names, and modules that its line names; the
// standard library is open to all. A package without a line fails the test.
var rules = map[string]struct{ ours, modules []string }{
	"generator":    {},
	"sqlfuncs":     {},
	"acknowledge":  {modules: []string{"github.com/jackc/pgx/v5"}},
	"lease":        {ours: []string{"acknowledge"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"segment":      {ours: []string{"acknowledge"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"proxy":        {modules: []string{"github.com/jackc/pgx/v5", "github.com/xdg-go/scram", "github.com/xdg-go/stringprep"}},
	"postgres":     {modules: []string{"github.com/jackc/pgx/v5", "golang.org/x/sys"}},
	"namespace":    {ours: []string{"generator"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"migrations":   {ours: []string{"generator", "namespace", "sqlfuncs"}, modules: []string{"github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"}},
	"cmd/pgflurry": {ours: []string{"*"}, modules: []string{"github.com/jackc/pgx/v5", "github.com/spf13/cobra", "github.com/spf13/pflag"}},

	// the benchmark
	"bench":              {ours: []string{"postgres"}, modules: []string{"github.com/jackc/pgx/v5", "github.com/HdrHistogram/hdrhistogram-go", "github.com/redis/go-redis/v9", "github.com/go-sql-driver/mysql"}},
	"bench/charts":       {ours: []string{"bench"}, modules: []string{"gonum.org/v1/plot"}},
	"cmd/pgflurry-bench": {ours: []string{"bench", "bench/charts"}, modules: []string{"github.com/spf13/cobra", "github.com/schollz/progressbar/v3"}},
}

// neverLinked must not be in any program, not even through another module: it is for tests.
var neverLinked = []string{"github.com/jackc/pgproto3/v2", "github.com/wasilibs/go-pgquery", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/ory/dockertest/v3", "github.com/Shopify/toxiproxy/v2", "github.com/rs/zerolog"}

type goPackage struct {
	ImportPath, Name string
	Imports, Deps    []string
}

func TestPackagesImportOnlyWhatTheirLayerMay(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "pgflurry/")
		if strings.HasPrefix(name, "tests") {
			continue
		}
		rule, known := rules[name]
		if !known {
			t.Errorf("package %s has no line in the import rules", name)
			continue
		}
		for _, path := range p.Imports {
			switch own, ours := strings.CutPrefix(path, "pgflurry/"); {
			case ours:
				if !slices.Contains(rule.ours, own) && !slices.Contains(rule.ours, "*") || strings.HasPrefix(own, "tests") {
					t.Errorf("%s imports %s, which its layer may not know", name, own)
				}
			case strings.Contains(strings.Split(path, "/")[0], "."):
				if !slices.ContainsFunc(rule.modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
					t.Errorf("%s imports %s, which has no line in the import rules", name, path)
				}
			}
		}
	}
}

// benchOnly are linked into the benchmark and not into the product.
var benchOnly = []string{"pgflurry/bench", "gonum.org/v1/plot", "github.com/redis/go-redis/v9", "github.com/go-sql-driver/mysql", "github.com/HdrHistogram/hdrhistogram-go", "github.com/schollz/progressbar/v3"}

func TestTheProductLinksNothingOfTheBenchmark(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != "pgflurry/cmd/pgflurry" {
			continue
		}
		for _, dep := range p.Deps {
			if slices.ContainsFunc(benchOnly, func(m string) bool { return dep == m || strings.HasPrefix(dep, m+"/") }) {
				t.Errorf("%s links %s", p.ImportPath, dep)
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
			if slices.ContainsFunc(neverLinked, func(m string) bool { return dep == m || strings.HasPrefix(dep, m+"/") }) {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
	}
	if programs == 0 {
		t.Error("no program was found")
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
