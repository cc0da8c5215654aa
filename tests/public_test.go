package tests

import (
	"flag"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write public.txt anew")

// public are the packages that other programs import. Their names stay, from the first version on.
var public = []string{"client", "generator", "inprocess"}

// A name that is gone breaks a program of somebody else, and one that is added can never go. So each change is seen:
// go test ./tests -run ThePublicNames -update
func TestThePublicNamesAreThoseOfTheList(t *testing.T) {
	const list = "public.txt"
	var names []string
	for _, p := range checkedPackages(t) {
		if slices.Contains(public, p.name) {
			names = append(names, exported(p.types)...)
		}
	}
	for _, name := range names {
		if strings.Contains(name, "internal/") {
			t.Errorf("%s: nobody outside can name a type of an internal package", name)
		}
	}
	text := strings.Join(names, "\n") + "\n"
	if *update {
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(strings.TrimSuffix(string(listed), "\n"), "\n")
	for _, name := range names {
		if !slices.Contains(before, name) {
			t.Errorf("new: %s", name)
		}
	}
	for _, name := range before {
		if !slices.Contains(names, name) {
			t.Errorf("gone: %s", name)
		}
	}
}

// exported returns the exported names of a package with their types: also fields and methods.
func exported(p *types.Package) (names []string) {
	short := func(other *types.Package) string { return strings.TrimPrefix(other.Path(), "pgflurry/") }
	add := func(object types.Object) { names = append(names, types.ObjectString(object, short)) }
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		named, isNamed := object.Type().(*types.Named)
		if _, isType := object.(*types.TypeName); !isType || !isNamed {
			add(object)
			continue
		}
		fields, isStruct := named.Underlying().(*types.Struct)
		if !isStruct {
			add(object)
		} else {
			names = append(names, "type "+short(p)+"."+name+" struct")
			for field := range fields.Fields() {
				if field.Exported() {
					names = append(names, "field "+short(p)+"."+name+"."+field.Name()+" "+
						types.TypeString(field.Type(), short))
				}
			}
		}
		for method := range named.Methods() {
			if method.Exported() {
				add(method)
			}
		}
	}
	return names
}
