package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	text, err := notices(context.Background(), "..")
	if err == nil {
		err = os.WriteFile("../NOTICE", text, 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "notices: %v\n", err)
		os.Exit(1)
	}
}

// system matches a line of .goreleaser.yaml with one that has a program.
var system = regexp.MustCompile(`(?m)^      - ([a-z]+)_([a-z0-9]+)$`)

// A dependency is a module that some program links, with the files that say how it may be used.
type dependency struct {
	path, version string
	dir           string
	texts         []string // paths of licences and notices
}

// legal matches the names of files that have to go with a copy.
var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// eachLinked prints module, version, the module's folder and the package's folder.
const eachLinked = `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}`

// linked returns what the programs link, sorted by path. A licence stands beside a package or in a folder above.
func linked(ctx context.Context, tree string) ([]dependency, error) {
	config, err := os.ReadFile(filepath.Join(tree, ".goreleaser.yaml"))
	if err != nil {
		return nil, err
	}
	found := make(map[string]*dependency)
	for _, t := range system.FindAllStringSubmatch(string(config), -1) {
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-tags", "image", // what only the image links, too
			"-f", eachLinked, "./cmd/pgflurry")
		list.Dir, list.Env = tree, append(os.Environ(), "GOOS="+t[1], "GOARCH="+t[2], "CGO_ENABLED=0")
		var said bytes.Buffer
		list.Stderr = &said
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w\n%s", t[0], err, &said)
		}
		for _, line := range strings.Fields(string(out)) {
			of := strings.Split(line, "|")
			if len(of) != 4 {
				return nil, fmt.Errorf("go list printed %q; a path with a space is not understood", line)
			}
			if found[of[0]] == nil {
				found[of[0]] = &dependency{path: of[0], version: of[1], dir: of[2]}
			}
			if err := found[of[0]].addTexts(of[3]); err != nil {
				return nil, err
			}
		}
	}
	var sorted []dependency
	for _, d := range found {
		if len(d.texts) == 0 {
			return nil, fmt.Errorf("%s has no file with a licence, so no program may link it", d.path)
		}
		slices.Sort(d.texts)
		sorted = append(sorted, *d)
	}
	slices.SortFunc(sorted, func(a, b dependency) int { return cmp.Compare(a.path, b.path) })
	return sorted, nil
}

// addTexts adds the files of the folder of a package, and of those above it within the module.
func (d *dependency) addTexts(folder string) error {
	for ; strings.HasPrefix(folder, d.dir); folder = filepath.Dir(folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			if entry.Type().IsRegular() && legal.MatchString(entry.Name()) && !slices.Contains(d.texts, path) {
				d.texts = append(d.texts, path)
			}
		}
	}
	return nil
}

const noticesHead = `pgflurry links the runtime and the standard library of Go, and the modules below. These are the
texts of their licences, as they require. "make notices" writes this file.
`

// notices is the content of NOTICE. A text that several modules share stands there once.
func notices(ctx context.Context, tree string) ([]byte, error) {
	links, err := linked(ctx, tree)
	if err != nil {
		return nil, err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	standard := dependency{path: "the runtime and the standard library of Go", dir: strings.TrimSpace(string(root))}
	if err := standard.addTexts(standard.dir); err != nil {
		return nil, err
	}
	if len(standard.texts) == 0 {
		return nil, fmt.Errorf("%s has no licence of Go", standard.dir)
	}
	var texts []string // in the order of the modules
	users := make(map[string][]string)
	for _, d := range append([]dependency{standard}, links...) {
		for _, path := range d.texts {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
			if users[text] == nil {
				texts = append(texts, text)
			}
			name, err := filepath.Rel(d.dir, path)
			if err != nil {
				return nil, err
			}
			users[text] = append(users[text], strings.TrimSpace(d.path+" "+d.version)+", "+filepath.ToSlash(name))
		}
	}
	var out bytes.Buffer
	out.WriteString(noticesHead)
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(users[text], "\n"), text)
	}
	return out.Bytes(), nil
}
