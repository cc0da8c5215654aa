package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// base is how the files of a program begin.
func (s *source) base(p program) string {
	return "pgflurry_" + strings.TrimPrefix(s.version, "v") + "_" + p.system + "_" + p.arch
}

// A packed file goes into an archive.
type packed struct {
	name string // in the archive
	path string
	mode fs.FileMode
}

// archive writes the files of a program for people who install by hand: a zip for Windows, else tar.gz.
func archive(_ context.Context, s *source, p program, out string) error {
	files := []packed{{p.name(), p.path, 0o755}}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		files = append(files, packed{name, filepath.Join(s.clone, name), 0o644})
	}
	for name, folder := range map[string]string{
		"completion": s.made, "deploy": s.clone,
	} {
		below, err := filesBelow(folder, name)
		if err != nil {
			return err
		}
		files = append(files, below...)
	}
	name := s.base(p)
	for i := range files {
		files[i].name = name + "/" + files[i].name
	}
	write, suffix := writeTarball, ".tar.gz"
	if p.system == "windows" {
		write, suffix = writeZip, ".zip"
	}
	var content bytes.Buffer
	if err := write(&content, sortedByName(files), s.at); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+suffix), content.Bytes(), 0o644)
}

// filesBelow lists the files of a folder, by names that begin with its own.
func filesBelow(above, name string) (files []packed, err error) {
	err = filepath.WalkDir(filepath.Join(above, name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		within, err := filepath.Rel(above, path)
		files = append(files, packed{filepath.ToSlash(within), path, 0o644})
		return err
	})
	return files, err
}

func writeTarball(w io.Writer, files []packed, at time.Time) error {
	zipped := gzip.NewWriter(w) // its header has no time
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(content)), Mode: int64(f.mode), ModTime: at,
			Uname: "root", Gname: "root",
		}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func writeZip(w io.Writer, files []packed, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		head.SetMode(f.mode)
		file, err := archive.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := file.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}
