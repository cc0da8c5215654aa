package postgres

import (
	"os"
	"strings"
	"testing"
)

// wantDocker skips a test of containers. It does not skip if containers are asked for, or if there are no binaries.
func wantDocker(t *testing.T) {
	t.Helper()
	if _, err := Find(""); err == nil && os.Getenv("PGFLURRY_TEST_DOCKER") != "1" {
		t.Skip("tests with Docker are not asked for: PGFLURRY_TEST_DOCKER is not 1")
	}
}

func TestContainerRunsStopsAndRunsAgain(t *testing.T) {
	wantDocker(t)
	image := DefaultImage
	if named := os.Getenv("PGFLURRY_TEST_IMAGE"); named != "" {
		image = named
	}
	provider, err := Locate(t.Context(), "", image)
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings{Provider: provider, Data: place(t) + "/data", Options: map[string]string{"fsync": "off"}}
	cluster := start(t, settings)
	if got := ask(t, cluster.URL("postgres"), "select lo_create(4711)::text"); got != "4711" {
		t.Errorf("the container's server answers %q", got)
	}
	if got := ask(t, socketURL(cluster, "postgres"), "select current_user::text"); got != "postgres" {
		t.Errorf("over the socket current_user is %q, expected postgres", got)
	}
	if got := fails(t, settings); !strings.Contains(got, "is in use by process") {
		t.Error(got)
	}
	stop(t, cluster)
	again := start(t, settings)
	if got := ask(t, again.URL("postgres"), "select count(*)::text from pg_largeobject_metadata"); got != "1" {
		t.Errorf("of the first run's one object the second has %q", got)
	}
	stop(t, again)
	if _, err := provider.Docker.run(t.Context(), "container", "inspect", again.runner.(*container).id); err == nil {
		t.Error("Stop left the container")
	}
}

func TestUnknownImageIsAnErrorThatNamesIt(t *testing.T) {
	wantDocker(t)
	provider, err := Locate(t.Context(), "", "pgflurry.invalid/nothing:0")
	if err != nil {
		t.Fatal(err)
	}
	got := fails(t, Settings{Provider: provider, Data: place(t) + "/data"})
	if !strings.Contains(got, "pgflurry.invalid/nothing:0 is not here and cannot be pulled") {
		t.Error(got)
	}
}
