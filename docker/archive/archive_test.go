package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
)

// architectures are those of docker/oci.
var architectures = []string{"amd64", "arm64"}

var from = source{version: "1.2.3", revision: "1a2b3c4d5e6f", at: time.Unix(1_700_000_000, 0).UTC()}

// built stands for two builds of docker/build. Of their files only the content counts.
func built(at time.Time, mode fs.FileMode) map[string]fs.FS {
	contents := make(map[string]fs.FS)
	for _, architecture := range architectures {
		contents[architecture] = fstest.MapFS{
			"NOTICE":   {Data: []byte("licences"), ModTime: at, Mode: mode},
			"pgflurry": {Data: []byte("for " + architecture), ModTime: at, Mode: mode},
		}
	}
	return contents
}

func archived(t *testing.T, contents map[string]fs.FS) []byte {
	t.Helper()
	var archive bytes.Buffer
	if err := write(&archive, from, contents); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// files returns the content of each file of a tar, and its header.
func files(t *testing.T, archive []byte) (content map[string][]byte, headers map[string]tar.Header) {
	t.Helper()
	content, headers = map[string][]byte{}, map[string]tar.Header{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if err == io.EOF {
			return content, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		headers[header.Name] = *header
		if content[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func TestTheSameFilesGiveTheSameArchiveWhenAndHoweverTheyWereBuilt(t *testing.T) {
	one := archived(t, built(time.Unix(1, 0), 0o600))
	two := archived(t, built(time.Unix(2, 0), 0o777))
	if !bytes.Equal(one, two) {
		t.Error("two archives of the same files differ")
	}
}

func TestEveryArchitectureIsReachedFromTheIndexAndFromDockersList(t *testing.T) {
	archive, _ := files(t, archived(t, built(time.Now(), 0o644)))
	// blob returns the content that a descriptor names, and checks the two.
	blob := func(d v1.Descriptor) []byte {
		content, there := archive[path(d)]
		if !there || digest.FromBytes(content) != d.Digest || int64(len(content)) != d.Size {
			t.Fatalf("%s with digest %s is no blob of the archive", d.MediaType, d.Digest)
		}
		return content
	}
	var entry, images v1.Index
	parse(t, archive[v1.ImageIndexFile], &entry)
	if len(entry.Manifests) != 1 || entry.Manifests[0].Annotations[v1.AnnotationRefName] != "1.2.3" {
		t.Fatalf("the index has %+v, expected version 1.2.3 alone", entry.Manifests)
	}
	parse(t, blob(entry.Manifests[0]), &images)
	var loads []loadable
	parse(t, archive["manifest.json"], &loads)
	var met []string
	for i, d := range images.Manifests {
		var manifest v1.Manifest
		parse(t, blob(d), &manifest)
		var config image
		parse(t, blob(manifest.Config), &config)
		if config.Architecture != d.Platform.Architecture {
			t.Errorf("the image for %s says that it is for %s", d.Platform.Architecture, config.Architecture)
		}
		met = append(met, config.Architecture)
		if loads[i].Config != path(manifest.Config) || loads[i].Layers[0] != path(manifest.Layers[0]) ||
			loads[i].RepoTags[0] != "pgflurry:1.2.3-"+config.Architecture {
			t.Errorf("manifest.json has %+v for %s", loads[i], config.Architecture)
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(unpacked)
		if err != nil || digest.FromBytes(layer) != config.RootFS.DiffIDs[0] {
			t.Errorf("the layer is not that of the configuration: %v", err)
		}
		root, headers := files(t, layer)
		if program := "for " + config.Architecture; string(root["pgflurry"]) != program {
			t.Errorf("the image for %s holds the program %s", config.Architecture, root["pgflurry"])
		}
		for name, header := range headers {
			if program := name == "pgflurry"; program != (header.Mode == 0o755 && header.Typeflag == tar.TypeReg) ||
				header.Uid != 0 || !header.ModTime.Equal(from.at) {
				t.Errorf("%s has mode %o, owner %d and time %v", name, header.Mode, header.Uid, header.ModTime)
			}
		}
	}
	if !slices.Equal(met, architectures) {
		t.Errorf("the archive has images for %v, expected %v", met, architectures)
	}
}
