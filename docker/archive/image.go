package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "crypto/sha256" // for digest.Canonical
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
)

// An image is the configuration of one architecture. It has the fields of the specification, and Docker's health check.
type image struct {
	v1.Image
	Config struct {
		v1.ImageConfig
		Healthcheck healthCheck
	} `json:"config"`
}

// healthCheck is the HEALTHCHECK of a Dockerfile. Docker counts in nanoseconds.
type healthCheck struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration
	Retries                        int
}

// configure says what the last stage of docker/Dockerfile says. A test compares the two.
func configure(from source, architecture string, plain digest.Digest) image {
	var i image
	i.Created = &from.at
	i.Platform = v1.Platform{OS: "linux", Architecture: architecture}
	i.RootFS = v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{plain}}
	i.Config.ImageConfig = v1.ImageConfig{
		User:         "65532:65532",
		ExposedPorts: map[string]struct{}{"6432/tcp": {}},
		Env:          []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		Entrypoint:   []string{"/pgflurry"},
		Cmd:          []string{"serve"},
		StopSignal:   "SIGTERM",
		Labels: map[string]string{
			v1.AnnotationTitle:       "pgflurry",
			v1.AnnotationDescription: "Cluster-unique, time-ordered 64-bit IDs for PostgreSQL, as a proxy",
			v1.AnnotationVersion:     from.version,
			v1.AnnotationRevision:    from.revision,
		},
	}
	i.Config.Healthcheck = healthCheck{
		Test:     []string{"CMD", "/pgflurry", "health", "--find"},
		Interval: 10 * time.Second, Timeout: 3 * time.Second, StartPeriod: 10 * time.Second, Retries: 3,
	}
	return i
}

// pack returns the files of an image as a compressed layer, and the digest of the layer before that.
func pack(files fs.FS, at time.Time) (layer []byte, plain digest.Digest, err error) {
	var out bytes.Buffer
	zipped, sum := gzip.NewWriter(&out), digest.Canonical.Digester()
	w := tar.NewWriter(io.MultiWriter(zipped, sum.Hash()))
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if path == "pgflurry" {
			mode = 0o755
		}
		return add(w, path, content, mode, at)
	})
	err = errors.Join(err, w.Close(), zipped.Close())
	return out.Bytes(), sum.Digest(), err
}

// add adds a file to a tar.
func add(w *tar.Writer, name string, content []byte, mode int64, at time.Time) error {
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, ModTime: at, Size: int64(len(content))}
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
