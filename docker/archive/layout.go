package main

import (
	"archive/tar"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	"github.com/opencontainers/image-spec/specs-go/v1"
)

// name is that of the image, without a registry.
const name = "pgflurry"

// write writes the archive: an OCI image layout, whose index leads to an index with one image for each architecture.
// Docker without containerd's store of images reads manifest.json instead. There a name has one image, so the
// architecture is part of it.
//
//	index.json      →  index  →  amd64: manifest  →  configuration, layer
//	                          →  arm64: manifest  →  configuration, layer
//	manifest.json   →  for each architecture: configuration, layer
func write(out io.Writer, from source, contents map[string]fs.FS) error {
	l := layout{}
	images := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	var loadables []loadable
	for _, architecture := range slices.Sorted(maps.Keys(contents)) {
		packed, plain, err := pack(contents[architecture], from.at)
		if err != nil {
			return err
		}
		config, err := l.addJSON(v1.MediaTypeImageConfig, configure(from, architecture, plain))
		if err != nil {
			return err
		}
		layer := l.add(v1.MediaTypeImageLayerGzip, packed)
		manifest, err := l.addJSON(v1.MediaTypeImageManifest, v1.Manifest{
			Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest,
			Config: config, Layers: []v1.Descriptor{layer},
		})
		if err != nil {
			return err
		}
		manifest.Platform = &v1.Platform{OS: "linux", Architecture: architecture}
		images.Manifests = append(images.Manifests, manifest)
		loadables = append(loadables, loadable{
			Config: path(config), Layers: []string{path(layer)},
			RepoTags: []string{name + ":" + from.version + "-" + architecture},
		})
	}
	index, err := l.addJSON(v1.MediaTypeImageIndex, images)
	if err != nil {
		return err
	}
	index.Annotations = map[string]string{
		v1.AnnotationRefName:       from.version,
		"io.containerd.image.name": "docker.io/library/" + name + ":" + from.version,
	}
	entry := v1.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex,
		Manifests: []v1.Descriptor{index},
	}
	for file, content := range map[string]any{
		v1.ImageLayoutFile: v1.ImageLayout{Version: v1.ImageLayoutVersion},
		v1.ImageIndexFile:  entry,
		"manifest.json":    loadables,
	} {
		if l[file], err = json.Marshal(content); err != nil {
			return err
		}
	}
	return l.write(out, from)
}

// A loadable is an image in manifest.json.
type loadable struct {
	Config           string
	RepoTags, Layers []string
}

// A layout is an image layout: the content of each file.
type layout map[string][]byte

// add adds a blob.
func (l layout) add(mediaType string, content []byte) v1.Descriptor {
	blob := v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	l[path(blob)] = content
	return blob
}

// addJSON adds a value as a blob.
func (l layout) addJSON(mediaType string, value any) (v1.Descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(mediaType, content), err
}

// path is where the layout has a blob.
func path(blob v1.Descriptor) string {
	return v1.ImageBlobsDir + "/" + string(blob.Digest.Algorithm()) + "/" + blob.Digest.Encoded()
}

// write writes the files in the order of their names.
func (l layout) write(out io.Writer, from source) error {
	w := tar.NewWriter(out)
	for _, file := range slices.Sorted(maps.Keys(l)) {
		if err := add(w, file, l[file], 0o644, from.at); err != nil {
			return err
		}
	}
	return w.Close()
}
