package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// asked is what people decide about a release.
type asked struct {
	version    string // the tag
	licence    string // path of a file
	module     string // path of the module, which go.mod has as well
	docs       string // URL of the folder docs
	maintainer string // of the packages
	targets    string // empty: all
	tree, out  string // the repository; the folder for releases
}

// A target is a system that programs are built for.
type target struct{ system, arch string }

func (t target) String() string { return t.system + "/" + t.arch }

// all are the targets of a whole release.
var all = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"freebsd", "amd64"},
	{"freebsd", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

var (
	tagForm        = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	moduleForm     = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w.~-]+)+$`)
	maintainerForm = regexp.MustCompile(`^[^<>]+ <[^<>@ ]+@[^<>@ ]+>$`)
)

// missing collects what a release lacks, with the way to give it.
type missing []string

func (m *missing) add(format string, values ...any) { *m = append(*m, fmt.Sprintf(format, values...)) }

// check returns the targets, or an error with everything that is missing or wrong.
func (a *asked) check(ctx context.Context) ([]target, error) {
	var m missing
	a.checkTag(ctx, &m)
	switch text, err := os.ReadFile(a.licence); {
	case a.licence == "":
		m.add("no licence, and nobody may use a program without one: commit it as LICENSE, or give LICENSE=FILE")
	case err != nil:
		m.add("the licence is not read: %v", err)
	case len(strings.TrimSpace(string(text))) == 0:
		m.add("%s is empty: it has to be the text of the licence", a.licence)
	}
	a.checkModule(&m)
	if at, err := url.Parse(a.docs); a.docs == "" {
		m.add("no address of docs/: the runbooks of the alerts are read there. " +
			"DOCS=https://git.example.org/team/pgflurry/docs")
	} else if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" {
		m.add("%s is no URL as in DOCS=https://git.example.org/team/pgflurry/docs", a.docs)
	}
	if !maintainerForm.MatchString(a.maintainer) {
		m.add("no maintainer, whom users of the packages can write to: MAINTAINER='Name <address@example.org>'; got %q",
			a.maintainer)
	}
	targets := all
	if a.targets != "" {
		targets = nil
		for name := range strings.SplitSeq(a.targets, ",") {
			i := slices.IndexFunc(all, func(t target) bool { return t.String() == name })
			if i < 0 {
				m.add("no release is made for %q; TARGETS is empty or has some of %v", name, all)
				continue
			}
			targets = append(targets, all[i])
		}
	}
	if len(m) > 0 {
		return nil, errors.New("nothing is made yet; docs/release.md explains each of these\n  * " +
			strings.Join(m, "\n  * "))
	}
	return targets, nil
}

// checkTag requires that the working tree is exactly the tag.
func (a *asked) checkTag(ctx context.Context, m *missing) {
	if !tagForm.MatchString(a.version) {
		m.add("no version: VERSION=v0.1.0 names the tag; got %q", a.version)
		return
	}
	tagged, err := a.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+a.version+"^{commit}")
	if err != nil {
		m.add("there is no tag %s: git tag -a %s -m %s", a.version, a.version, a.version)
		return
	}
	if head, err := a.git(ctx, "rev-parse", "HEAD"); err != nil || head != tagged {
		m.add("the checkout is not the tag: git checkout %s", a.version)
	}
	changed, err := a.git(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil || changed != "" {
		m.add("files differ from the tag, see git status; a release is made of what is committed")
	}
}

// checkModule requires that the module has a path under which others find it.
func (a *asked) checkModule(m *missing) {
	inFile, err := moduleOf(a.tree)
	switch {
	case err != nil:
		m.add("%v", err)
	case !moduleForm.MatchString(a.module):
		m.add("no module path that Go finds: it begins with a host, as in MODULE=git.example.org/team/pgflurry; got %q",
			a.module)
	case inFile != a.module:
		m.add("go.mod says module %s, and not %s: make module MODULE=%s, and commit it before the tag",
			inFile, a.module, a.module)
	}
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// moduleOf reads the module path of a tree.
func moduleOf(tree string) (string, error) {
	text, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		return "", err
	}
	line := moduleLine.FindSubmatch(text)
	if line == nil {
		return "", fmt.Errorf("%s has no line with the module", filepath.Join(tree, "go.mod"))
	}
	return string(line[1]), nil
}

func (a *asked) git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", a.tree}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
