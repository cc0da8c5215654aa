// Package tests checks rules that concern the whole repository: imports, lines, documents. The black-box tests are in
// the folders below.
package tests

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// quoted matches text in backticks.
var quoted = regexp.MustCompile("`([^`]+)`")

// apart are rooms that never import one another, whatever their floors: each declares the small interfaces it needs.
var apart = []string{
	"generator", "internal/lease", "internal/segment", "internal/primary", "internal/admin", "proxy", "proxy/idserver",
}

// sourcePage returns a part of the page about rooms and libraries.
func sourcePage(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../internal/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("internal/README.md has no heading %s", heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// floors reads the rows of the table of rooms, by package.
func floors(t *testing.T) map[string]int {
	t.Helper()
	all := make(map[string]int)
	rows := regexp.MustCompile("(?m)^\\| (\\d+) \\| \\[`([^`]+)`\\]")
	for _, row := range rows.FindAllStringSubmatch(sourcePage(t, "Rooms"), -1) {
		floor, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if all[row[2]] != 0 {
			t.Errorf("%s has two rows in the table of rooms", row[2])
		}
		all[row[2]] = floor
	}
	if len(all) < 20 {
		t.Fatalf("the table of rooms has %d; expected many more", len(all))
	}
	return all
}

// importers reads from the table of dependencies which packages may import a module, by module.
func importers(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for line := range strings.Lines(sourcePage(t, "Dependencies")) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		var rooms []string
		for _, room := range quoted.FindAllStringSubmatch(cells[2], -1) {
			rooms = append(rooms, room[1])
		}
		for _, found := range quoted.FindAllStringSubmatch(cells[1], -1) {
			module := found[1]
			if !strings.Contains(strings.Split(module, "/")[0], ".") { // written short
				module = "github.com/" + module
			}
			all[module] = rooms
		}
	}
	return all
}

// benchOnly are modules that only the benchmark may require.
var benchOnly = []string{
	"pgflurry/bench", "gonum.org/v1/plot", "github.com/redis/go-redis/v9", "github.com/go-sql-driver/mysql",
	"github.com/HdrHistogram/hdrhistogram-go",
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

// product returns the packages of the program, and those for other programs.
func product(t *testing.T) (all []goPackage) {
	t.Helper()
	for _, p := range packages(t, "..") {
		p.ImportPath = strings.TrimPrefix(p.ImportPath, "pgflurry/")
		if !strings.HasPrefix(p.ImportPath, "tests") && !strings.HasPrefix(p.ImportPath, "docker/") {
			all = append(all, p)
		}
	}
	return all
}

func TestARoomImportsOnlyRoomsOfLowerFloors(t *testing.T) {
	floors, met := floors(t), map[string]bool{}
	for _, p := range product(t) {
		floor, known := floors[p.ImportPath]
		if !known {
			t.Errorf("%s has no row in the table of rooms of internal/README.md", p.ImportPath)
		}
		met[p.ImportPath] = true
		for _, path := range p.Imports {
			own, ours := strings.CutPrefix(path, "pgflurry/")
			if ours && floors[own] >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.ImportPath, floor, own, floors[own])
			}
			if ours && slices.Contains(apart, p.ImportPath) && slices.Contains(apart, own) {
				t.Errorf("%s imports %s; they are to know nothing of one another", p.ImportPath, own)
			}
		}
	}
	for room := range floors {
		if !met[room] {
			t.Errorf("there is no room %s, which has a row in the table", room)
		}
	}
}

func TestAModuleIsImportedOnlyWhereTheTableOfDependenciesSays(t *testing.T) {
	importers, floors := importers(t), floors(t)
	used := make(map[string]bool)
	for _, p := range product(t) {
		for _, path := range p.Imports {
			if !strings.Contains(strings.Split(path, "/")[0], ".") {
				continue
			}
			found := false
			for module, rooms := range importers {
				if !within(path)(module) {
					continue
				}
				found = true
				used[module+" "+p.ImportPath] = true
				// no room in backticks: in words, as "whatever connects"
				if len(rooms) > 0 && !slices.Contains(rooms, p.ImportPath) {
					t.Errorf("%s imports %s, whose row names only %q", p.ImportPath, path, rooms)
				}
			}
			if !found {
				t.Errorf("%s imports %s, which has no row under Dependencies", p.ImportPath, path)
			}
		}
	}
	for module, rooms := range importers {
		for _, room := range rooms {
			if _, isRoom := floors[room]; isRoom && !used[module+" "+room] {
				t.Errorf("%s does not import %s, whose row names it", room, module)
			}
		}
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

func TestEveryModuleThatIsImportedHasItsSentenceAndTheProductsImportsNothingOfTheBenchmark(t *testing.T) {
	sentences := sourcePage(t, "Dependencies")
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
				t.Errorf("%s, which %s requires, has no sentence in internal/README.md", required.Path, path)
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
