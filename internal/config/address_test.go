package config

import (
	"slices"
	"strings"
	"testing"
)

func TestAListOfHostsIsReadAndMistakesAreNamed(t *testing.T) {
	socket := t.TempDir() + "/s"
	hosts, err := ParseUpstream("db1:5432, db2:5433," + socket)
	expected := []Address{{Network: "tcp", Address: "db1:5432"}, {Network: "tcp", Address: "db2:5433"}, {
		Network: "unix", Address: socket,
	}}
	if err != nil || !slices.Equal(hosts, expected) {
		t.Errorf("%v, %v", hosts, err)
	}
	for list, says := range map[string]string{
		"":                     "--upstream is missing",
		"db1:5432,":            "an empty host",
		"db1:5432,db1:5432":    "names db1:5432 twice",
		"db1:5432,db2":         `--upstream is "db2"`,
		"db1:99999":            `--upstream is "db1:99999"; expected HOST:PORT`,
		"db1:":                 `--upstream is "db1:"; expected HOST:PORT`,
		"::1:5432":             `--upstream is "::1:5432"; expected HOST:PORT`,
		"u:secret@h:1,db:5432": "may hold a password",
	} {
		if _, err := ParseUpstream(list); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v; expected %q", list, err, says)
		}
	}
}

// libpq's PGHOST may be a directory, and scripts write "$PGHOST:$PGPORT".
func TestADirectoryIsPostgreSQLsSocketInIt(t *testing.T) {
	folder := t.TempDir()
	for address, expected := range map[string]string{
		folder: folder + "/.s.PGSQL.5432", folder + ":5433": folder + "/.s.PGSQL.5433",
		folder + "/none:5433": folder + "/none:5433", folder + ":99999": folder + ":99999",
	} {
		got, err := ParseAddress("upstream", address)
		if err != nil || got != (Address{"unix", expected}) {
			t.Errorf("%s: %v, %v; expected %s", address, got, err, expected)
		}
	}
}
