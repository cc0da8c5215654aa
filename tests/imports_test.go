// Package tests checks rules that concern the whole repository: imports, lines, documents. The black-box tests are in
// the folders below.
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
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A rule lists what a package may import: packages of this repository, and modules. Every package may import the
// standard library.
type rule struct{ ours, modules []string }

// quoted matches text in backticks.
var quoted = regexp.MustCompile("`([^`]+)`")

// layers reads the rows of the table of layers in CONTRIBUTING.md, by package.
func layers(t *testing.T) map[string]rule {
	t.Helper()
	_, table, _ := strings.Cut(contributing(t), "\n## Layers\n")
	table, _, _ = strings.Cut(table, "\n## ")
	all := make(map[string]rule)
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		var names [3][]string
		for i, cell := range cells[1:4] {
			for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
				names[i] = append(names[i], found[1])
			}
		}
		modules := names[2]
		for i, m := range modules {
			if !strings.Contains(strings.Split(m, "/")[0], ".") { // written short, as under Dependencies
				modules[i] = "github.com/" + m
			}
		}
		for _, name := range names[0] {
			all[name] = rule{names[1], modules}
		}
	}
	if len(all) < 20 {
		t.Fatalf("the table of layers has %d packages; expected many more", len(all))
	}
	return all
}

func contributing(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// benchOnly are modules that only the benchmark may require.
var benchOnly = []string{
	"pgflurry/bench", "gonum.org/v1/plot", "github.com/redis/go-redis/v9", "github.com/go-sql-driver/mysql",
	"github.com/HdrHistogram/hdrhistogram-go", "github.com/schollz/progressbar/v3", "github.com/aclements/go-moremath",
	"github.com/bwmarrin/snowflake", "github.com/sony/sonyflake", "github.com/oklog/ulid/v2", "github.com/rs/xid",
	"github.com/google/uuid",
}

// nested are the other modules of the repository. "go list pgflurry/..." does not list their packages.
var nested = []string{
	"bench", "release", "tests/clients/go", "tests/frameworks/go", "tests/deploy/kubernetes",
	"tests/printed/tools/go",
}

// neverLinked are modules for tests. No program may link them, not even through another module.
var neverLinked = []string{
	"github.com/jackc/pgproto3/v2", "github.com/wasilibs/go-pgquery", "pgregory.net/rapid", "go.uber.org/goleak",
	"github.com/ory/dockertest/v3", "github.com/Shopify/toxiproxy/v2", "github.com/rs/zerolog",
}

type goPackage struct {
	ImportPath, Name string
	Imports, Deps    []string
}

func TestPackagesImportOnlyWhatTheTableOfLayersSays(t *testing.T) {
	rules := layers(t)
	for _, p := range append(packages(t, ".."), nestedPackages(t)...) {
		name := strings.TrimPrefix(p.ImportPath, "pgflurry/")
		if strings.HasPrefix(name, "tests") || name == "bench/tests" {
			continue // may import everything
		}
		may, known := rules[name]
		if !known {
			t.Errorf("package %s has no line in the table of layers in CONTRIBUTING.md", name)
			continue
		}
		delete(rules, name)
		for _, path := range p.Imports {
			switch own, ours := strings.CutPrefix(path, "pgflurry/"); {
			case ours:
				if !slices.Contains(may.ours, own) {
					t.Errorf("%s imports %s, which its line in the table of layers does not name", name, own)
				}
			case strings.Contains(strings.Split(path, "/")[0], "."):
				if !slices.ContainsFunc(may.modules, within(path)) {
					t.Errorf("%s imports %s, which its line in the table of layers does not name", name, path)
				}
			}
		}
		for _, named := range may.ours {
			if !slices.Contains(p.Imports, "pgflurry/"+named) {
				t.Errorf("%s does not import %s, which its line in the table of layers names", name, named)
			}
		}
	}
	for name := range rules {
		t.Errorf("there is no package %s, which has a line in the table of layers", name)
	}
}

// within returns a check: does a module contain this package?
func within(path string) func(module string) bool {
	return func(module string) bool { return path == module || strings.HasPrefix(path, module+"/") }
}

func TestNoProgramLinksWhatIsForTests(t *testing.T) {
	for _, module := range []string{"..", "../bench"} {
		programs := 0
		for _, p := range packages(t, module) {
			if p.Name != "main" {
				continue
			}
			programs++
			for _, dep := range p.Deps {
				if slices.ContainsFunc(neverLinked, within(dep)) {
					t.Errorf("%s links %s", p.ImportPath, dep)
				}
			}
		}
		if programs == 0 {
			t.Errorf("no program was found in %s", module)
		}
	}
}

// nestedPackages returns the packages of the benchmark's module and of that of releases. It reads imports from the
// files. "go list" would need modules that a machine that only builds the product lacks.
func nestedPackages(t *testing.T) []goPackage {
	t.Helper()
	imports := make(map[string][]string)
	read := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../"))
		imports[name] = append(imports[name], nil...) // also for a package without imports
		for _, imported := range file.Imports {
			imports[name] = append(imports[name], strings.Trim(imported.Path.Value, `"`))
		}
		return nil
	}
	for _, module := range []string{"../bench", "../release"} {
		before := len(imports)
		if err := filepath.WalkDir(module, read); err != nil || len(imports) == before {
			t.Fatalf("%s has no package, error %v", module, err)
		}
	}
	var all []goPackage
	for name, paths := range imports {
		all = append(all, goPackage{ImportPath: name, Imports: paths})
	}
	return all
}

func TestEveryModuleThatIsImportedHasItsSentenceAndTheProductsImportsNothingOfTheBenchmark(t *testing.T) {
	_, sentences, _ := strings.Cut(contributing(t), "\n## Dependencies\n")
	known := map[string]bool{"..": true}
	for _, folder := range nested {
		known[filepath.Join("..", folder)] = true
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
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
			case required.Indirect || !strings.Contains(required.Path, "."): // without a dot: of this repository
			case filepath.Dir(path) == ".." && slices.Contains(benchOnly, required.Path):
				t.Errorf("the product's module requires %s, which only that of the benchmark may", required.Path)
			case !strings.Contains(sentences, "`"+strings.TrimPrefix(required.Path, "github.com/")+"`"):
				t.Errorf("%s, which %s requires, has no sentence in CONTRIBUTING.md", required.Path, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packages returns those of the module in a folder.
func packages(t *testing.T, folder string) (all []goPackage) {
	t.Helper()
	list := exec.Command("go", "list", "-C", folder, "-json=ImportPath,Name,Imports,Deps", "./...")
	var said strings.Builder
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v: %s", folder, err, &said)
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
