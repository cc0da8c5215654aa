package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

const description = `proxy that answers SELECT next_snowflake() in front of PostgreSQL
Any PostgreSQL client gets cluster-unique, time-ordered 64-bit IDs. The proxy
answers from memory, and a function in the database gives IDs of the same
space.`

// compression is that of both formats: xz saves a tenth and takes half a minute.
const compression = "gzip"

// packages writes a deb and an rpm. Both have the same files, but each its own place for licences.
func packages(_ context.Context, s *source, p program, out string) error {
	if p.system != "linux" {
		return nil
	}
	contents, err := s.contents(p, out)
	if err != nil {
		return err
	}
	names, err := licences(filepath.Join(s.clone, "LICENSE"))
	if err != nil {
		return err
	}
	licence := seeFile
	if len(names) > 0 {
		licence = strings.Join(names, " AND ")
	}
	for format, particular := range map[string]nfpm.Overridables{
		"deb": {
			Depends:  []string{"passwd"}, // it has useradd
			Contents: files.Contents{s.file(filepath.Join(s.made, "copyright"), "/usr/share/doc/pgflurry/copyright")},
			Deb:      nfpm.Deb{Compression: compression},
		},
		"rpm": {
			Depends: []string{"/usr/sbin/useradd"},
			Contents: files.Contents{
				s.file(filepath.Join(s.clone, "LICENSE"), "/usr/share/licenses/pgflurry/LICENSE"),
				s.file(filepath.Join(s.clone, "NOTICE"), "/usr/share/licenses/pgflurry/NOTICE"),
			},
			RPM: nfpm.RPM{Compression: compression, BuildHost: "localhost"},
		},
	} {
		particular.Scripts = nfpm.Scripts{
			PostInstall: s.script("postinstall"), PreRemove: s.script("preremove"), PostRemove: s.script("postremove"),
		}
		particular.Contents = append(particular.Contents, contents...)
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "pgflurry", Arch: p.arch, Platform: "linux", Version: s.version, Section: "database",
			Priority: "optional", Maintainer: s.maintainer, Description: description, Homepage: "https://" + s.module,
			License: licence, MTime: s.at, Overridables: particular,
		})
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		var written bytes.Buffer
		if err := packager.Package(info, &written); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		name := filepath.Join(out, packager.ConventionalFileName(info))
		if err := os.WriteFile(name, written.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) script(name string) string {
	return filepath.Join(s.clone, "release", "packaging", name)
}

// file is a file of a package that everybody may read.
func (s *source) file(path, place string) *files.Content {
	return &files.Content{
		Source: path, Destination: place,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o644, MTime: s.at},
	}
}

// contents are the files that both formats have.
func (s *source) contents(p program, out string) (files.Contents, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	binary := s.file(p.path, "/usr/bin/pgflurry")
	binary.FileInfo.Mode = 0o755
	settings := s.file(filepath.Join(s.clone, "deploy/systemd/pgflurry.toml"), "/etc/pgflurry/pgflurry.toml")
	settings.Type = files.TypeConfigNoReplace
	all := files.Contents{binary, settings}
	for place, path := range map[string]string{
		"lib/systemd/system/pgflurry.service":                s.unit(),
		"lib/systemd/system/pgflurry.socket":                 s.deployed("systemd/pgflurry.socket"),
		"share/bash-completion/completions/pgflurry":         s.completion("bash"),
		"share/zsh/vendor-completions/_pgflurry":             s.completion("zsh"),
		"share/fish/vendor_completions.d/pgflurry.fish":      s.completion("fish"),
		"share/doc/pgflurry/changelog.gz":                    filepath.Join(s.made, "changelog.gz"),
		"share/doc/pgflurry/sbom.cdx.json":                   sbomPath(s, p, out),
		"share/doc/pgflurry/examples/pgflurry.toml":          s.deployed("pgflurry.toml"),
		"share/doc/pgflurry/examples/prometheus/alerts.yaml": s.deployed("prometheus/alerts.yaml"),
		"share/doc/pgflurry/examples/grafana/pgflurry.json":  s.deployed("grafana/pgflurry.json"),
	} {
		all = append(all, s.file(path, "/usr/"+place))
	}
	return all, nil
}

func (s *source) deployed(name string) string { return filepath.Join(s.clone, "deploy", name) }

func (s *source) unit() string { return filepath.Join(s.made, "pgflurry.service") }

// prepare writes the files that only packages have.
func (s *source) prepare() error {
	if _, err := os.Stat(s.unit()); err == nil {
		return nil // for another target
	}
	text, err := os.ReadFile(s.deployed("systemd/pgflurry.service"))
	if err != nil {
		return err
	}
	// The comment above says how to install it by hand.
	_, unit, whole := strings.Cut(string(text), "\n[Unit]\n")
	moved := strings.ReplaceAll("[Unit]\n"+unit, "/usr/local/bin/", "/usr/bin/")
	if !whole || !strings.Contains(moved, "ExecStart=/usr/bin/pgflurry serve ") {
		return fmt.Errorf("%s does not start /usr/local/bin/pgflurry", s.deployed("systemd/pgflurry.service"))
	}
	licence, err := os.ReadFile(filepath.Join(s.clone, "LICENSE"))
	if err != nil {
		return err
	}
	notice, err := os.ReadFile(filepath.Join(s.clone, "NOTICE"))
	if err != nil {
		return err
	}
	copyright := append(append(licence, '\n'), notice...)
	if err := os.WriteFile(filepath.Join(s.made, "copyright"), copyright, 0o644); err != nil {
		return err
	}
	if err := compress(filepath.Join(s.clone, "CHANGELOG.md"), filepath.Join(s.made, "changelog.gz")); err != nil {
		return err
	}
	return os.WriteFile(s.unit(), []byte(moved), 0o644)
}

func compress(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, zipped.Bytes(), 0o644)
}
