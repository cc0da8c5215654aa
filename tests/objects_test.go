package tests

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What one object may have. Beyond that, some of its methods use fields that the others do not: another object.
const (
	mostMethods  = 35 // of a type, whether declared on T or *T
	mostFields   = 20 // of a struct with methods and something to hide; one that only carries values may have more
	mostInCircle = 6  // files of a package that all need one another
)

// A size is one number of an object or a package, and what it consists of.
type size struct {
	of     string // "methods proxy.session"
	number int
	shown  []string
}

func TestNoObjectHasGrownTooLarge(t *testing.T) {
	var methods, fields, inCircles []size
	for _, p := range checkedPackages(t) {
		ofTypes := p.objects()
		methods, fields = append(methods, ofTypes.methods...), append(fields, ofTypes.fields...)
		inCircles = append(inCircles, p.largestCircle()...)
	}
	for _, kind := range []struct {
		name  string
		most  int
		sizes []size
	}{
		{"methods", mostMethods, methods},
		{"fields", mostFields, fields},
		{"files in a circle", mostInCircle, inCircles},
	} {
		if len(kind.sizes) == 0 {
			t.Errorf("no %s were found at all", kind.name)
		}
		slices.SortStableFunc(kind.sizes, func(a, b size) int { return cmp.Compare(b.number, a.number) })
		t.Logf("%s, at most %d:", kind.name, kind.most)
		for i, s := range kind.sizes {
			if i < 5 || s.number > kind.most {
				t.Logf("%5d  %s%s", s.number, s.of, strings.Join(append([]string{""}, s.shown...), "\n       "))
			}
			if s.number > kind.most {
				t.Errorf("%s: %d; at most %d are allowed", s.of, s.number, kind.most)
			}
		}
	}
}

func TestACircleOfFilesIsFoundWithoutThoseThatOnlyLeadToIt(t *testing.T) {
	found := circles(slices.Values([]edge{
		{"a", "b"}, {"b", "c"}, {"c", "a"}, {"in", "a"}, {"c", "out"}, {"out", "end"},
	}))
	if len(found) != 1 || !slices.Equal(found[0], []string{"a", "b", "c"}) {
		t.Errorf("circles %v; expected one of a, b and c", found)
	}
}

// checkedPackage is a package with its types. Its files are in the order of fset.
type checkedPackage struct {
	name  string // without the module
	fset  *token.FileSet
	files []*ast.File
	types *types.Package
	info  types.Info
}

// checkedPackages returns the product's packages as they are built for Linux. "go list" compiles what they import, and
// Go's cache keeps it.
func checkedPackages(t *testing.T) (all []checkedPackage) {
	t.Helper()
	list := exec.Command("go", "list", "-C", "..", "-deps", "-export",
		"-json=ImportPath,Dir,GoFiles,Export,Module", "./...")
	list.Env = append(os.Environ(), "GOOS=linux")
	var said strings.Builder
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, &said)
	}
	exports := make(map[string]string)
	fset := token.NewFileSet()
	imported := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var listed struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  *struct{ Main bool }
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		exports[listed.ImportPath] = listed.Export
		name := strings.TrimPrefix(listed.ImportPath, "pgflurry/")
		if listed.Module == nil || !listed.Module.Main || name == "tests" || strings.HasPrefix(name, "tests/") {
			continue
		}
		p := checkedPackage{name: name, fset: fset, info: types.Info{
			Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
		}}
		for _, file := range listed.GoFiles {
			parsed, err := parser.ParseFile(fset, filepath.Join(listed.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, parsed)
		}
		// Those that a package imports come before it in the list.
		config := types.Config{Importer: imported, GoVersion: "go1.26"}
		if p.types, err = config.Check(listed.ImportPath, fset, p.files, &p.info); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// objects returns the sizes of the package's types.
func (p checkedPackage) objects() (found struct{ methods, fields []size }) {
	for _, name := range p.types.Scope().Names() {
		object, isType := p.types.Scope().Lookup(name).(*types.TypeName)
		if !isType || object.IsAlias() {
			continue
		}
		named, isNamed := object.Type().(*types.Named)
		if !isNamed || named.NumMethods() == 0 {
			continue
		}
		in := make(map[string]bool)
		for method := range named.Methods() {
			in[p.file(method.Pos())] = true
		}
		found.methods = append(found.methods, size{
			of: "methods " + p.name + "." + name, number: named.NumMethods(),
			shown: []string{fmt.Sprintf("in %d files", len(in))},
		})
		fields, isStruct := named.Underlying().(*types.Struct)
		if !isStruct {
			continue
		}
		hides := false
		for field := range fields.Fields() {
			hides = hides || !field.Exported()
		}
		if hides {
			found.fields = append(found.fields, size{of: "fields " + p.name + "." + name, number: fields.NumFields()})
		}
	}
	return found
}

func (p checkedPackage) file(at token.Pos) string {
	return filepath.Base(p.fset.Position(at).Filename)
}

// edge means that a file names something that another file of its package declares.
type edge struct{ from, to string }

// largestCircle returns the package's largest circle of files, if there is one, with the edges where it can be cut.
func (p checkedPackage) largestCircle() []size {
	names := make(map[edge]map[string]int) // how often which name is used
	for ident, object := range p.info.Uses {
		if object.Pkg() != p.types || !object.Pos().IsValid() {
			continue
		}
		along := edge{p.file(ident.Pos()), p.file(object.Pos())}
		if along.from == along.to {
			continue
		}
		if names[along] == nil {
			names[along] = make(map[string]int)
		}
		names[along][object.Name()]++
	}
	all := circles(maps.Keys(names))
	if len(all) == 0 {
		return nil
	}
	circle := slices.MaxFunc(all, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	return []size{{
		of: "circle of files " + p.name, number: len(circle),
		shown: append([]string{strings.Join(circle, " ")}, cuts(circle, names)...),
	}}
}

// cuts returns the edges of a circle whose loss costs the fewest references, and how large a circle it would leave.
func cuts(circle []string, names map[edge]map[string]int) (shown []string) {
	type cut struct {
		edge
		references, left int
	}
	var inside []edge
	for along := range names {
		if slices.Contains(circle, along.from) && slices.Contains(circle, along.to) {
			inside = append(inside, along)
		}
	}
	var all []cut
	for _, along := range inside {
		one := cut{edge: along, left: 1}
		for _, times := range names[along] {
			one.references += times
		}
		without := slices.DeleteFunc(slices.Clone(inside), func(other edge) bool { return other == along })
		for _, smaller := range circles(slices.Values(without)) {
			one.left = max(one.left, len(smaller))
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b cut) int {
		return cmp.Or(cmp.Compare(a.references, b.references), cmp.Compare(a.left, b.left),
			strings.Compare(a.from, b.from), strings.Compare(a.to, b.to))
	})
	for _, one := range all[:min(len(all), 12)] {
		used := strings.Join(slices.Sorted(maps.Keys(names[one.edge])), ", ")
		shown = append(shown, fmt.Sprintf("cut %s → %s: %d references (%s), leaves %d",
			one.from, one.to, one.references, used, one.left))
	}
	return shown
}

// circles returns the strongly connected components of more than one file, by Tarjan's algorithm.
func circles(edges func(yield func(edge) bool)) (found [][]string) {
	next := make(map[string][]string)
	for along := range edges {
		next[along.from] = append(next[along.from], along.to)
	}
	number, lowest := make(map[string]int), make(map[string]int)
	var open []string
	var visit func(file string)
	visit = func(file string) {
		number[file] = len(number) + 1
		lowest[file] = number[file]
		open = append(open, file)
		for _, to := range next[file] {
			if number[to] == 0 {
				visit(to)
				lowest[file] = min(lowest[file], lowest[to])
			} else if slices.Contains(open, to) {
				lowest[file] = min(lowest[file], number[to])
			}
		}
		if lowest[file] != number[file] {
			return
		}
		from := slices.Index(open, file)
		if circle := slices.Sorted(slices.Values(open[from:])); len(circle) > 1 {
			found = append(found, circle)
		}
		open = open[:from]
	}
	for _, file := range slices.Sorted(maps.Keys(next)) {
		if number[file] == 0 {
			visit(file)
		}
	}
	return found
}
