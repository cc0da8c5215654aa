package product

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArchiveHoldsForEachArchitectureTheImageThatDockerBuilds(t *testing.T) {
	build(t, "--build-arg VERSION=1.2.3")
	folder := t.TempDir()
	shell(t, "docker/oci 1.2.3 "+folder)
	docker(t, "load", "--input", filepath.Join(folder, "pgflurry_1.2.3_image.tar"))
	here := docker(t, "version", "--format", "{{.Server.Arch}}")
	for _, architecture := range []string{"amd64", "arm64"} {
		image := "pgflurry:1.2.3-" + architecture
		const config = "{{.Architecture}} {{with .Config}}{{.User}} {{json .ExposedPorts}} {{json .Entrypoint}} " +
			"{{json .Cmd}} {{.StopSignal}} {{json .Healthcheck}} {{json .Labels}} {{json .Env}}{{end}}"
		expected := strings.Replace(docker(t, "inspect", "--format", config, "pgflurry"), here, architecture, 1)
		if loaded := docker(t, "inspect", "--format", config, image); loaded != expected {
			t.Errorf("the archive has an image with\n%s\nexpected\n%s", loaded, expected)
		}
		files := content(t, image, "--platform", "linux/"+architecture)
		if built := content(t, "pgflurry"); !slices.Equal(files, built) {
			t.Errorf("the archive has an image that holds %q, expected %q", files, built)
		}
	}
	if loaded, built := programOf(t, "pgflurry:1.2.3-"+here), programOf(t, "pgflurry"); loaded != built {
		t.Errorf("the programs of the archive and of the Dockerfile differ: %s, %s. "+
			"Is the Go here that of the image?", loaded, built)
	}
}

// programOf returns the checksum of the program in an image.
func programOf(t *testing.T, image string) string {
	t.Helper()
	id := docker(t, "create", image)
	defer docker(t, "rm", id)
	return shell(t, "docker cp "+id+":/pgflurry - | tar -xO | sha256sum")
}
