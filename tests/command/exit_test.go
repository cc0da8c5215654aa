package command

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// dead returns an address where nobody listens.
func dead(t testing.TB) string {
	t.Helper()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	return closed.Addr().String()
}

func TestEachKindOfFailureHasTheExitCodeThatTheHelpNames(t *testing.T) {
	t.Parallel()
	migrated, empty := server.Migrated(t), server.Database(t)
	copied := server.TemplateCopy(t, migrated, server.Name(t, empty)+"_copy")
	closed := server.Migrated(t)
	server.Exec(t, closed, "CALL pgflurry.close_database()")
	nowhere := "postgres://nobody@" + dead(t) + "/app"
	stranger := server.As(t, migrated, "nobody_has_this_name", "")
	upstream := server.Parse(t, migrated).Host
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--lease-database", migrated}
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"in place", 0, []string{"migrate", "status", "--database", migrated}},
		{"a list", 0, []string{"workers", "list", "--database", migrated}},
		{"a namespace's layout", 0, []string{"decode", "1", "--database", migrated}},
		{"help", 0, []string{"--help"}},

		{"no consent", 1, []string{"workers", "reseed", "--database", migrated}},
		{"a taken address", 1, append(serve[:len(serve):len(serve)], "--listen", upstream)},
		{"an ID that is none", 1, []string{"decode", "nonsense"}},
		{"a worker of a function", 1, []string{"workers", "retire", "0", "--database", migrated}},

		{"an unknown command", 2, []string{"sideways"}},
		{"an unknown flag", 2, []string{"serve", "--nope"}},
		{"a wrong value", 2, []string{"serve", "--window", "long"}},
		{"a value out of range", 2, append(serve[:len(serve):len(serve)], "--window", "10ms")},
		{"a window beyond the namespace's", 2, append(serve[:len(serve):len(serve)], "--window", "1h")},
		{"flags that contradict each other", 2, append(serve[:len(serve):len(serve)], "--client-tls", "require")},
		{
			"a file that is not there", 2, append(serve[:len(serve):len(serve)], "--client-tls-cert",
				filepath.Join(t.TempDir(), "cert"), "--client-tls-key", "key"),
		},
		{"a flag that is required", 2, []string{"serve", "--upstream", upstream}},
		{"flags that exclude each other", 2, []string{"demo", "--bin", "/nowhere", "--docker-image", "postgres"}},
		{"an ID that names no ID space", 2, []string{"namespace", "join", "--database", empty, "--after-id", "1"}},
		{"nothing to join", 2, []string{"namespace", "join", "--database", migrated}},
		{"two to join", 2, []string{"namespace", "join", "--database", empty, "--home", migrated, "--region", "1"}},
		{"nothing to set", 2, []string{"namespace", "set", "--database", migrated}},
		{"what only a home has", 2, []string{
			"namespace", "set", "--database", empty, "--home", migrated,
			"--max-window", "1h",
		}},
		{"an ID space that is set before it is made", 1, []string{
			"namespace", "set", "--database", empty,
			"--max-window", "1h",
		}},
		{"another layout", 2, []string{"migrate", "up", "--database", migrated, "--layout", "javascript"}},
		{
			"a word for a copy that does not move", 2,
			[]string{"namespace", "join", "--database", empty, "--home", migrated, "--no-other-draws"},
		},
		{"a highest ID for no new namespace", 2, []string{"migrate", "up", "--database", migrated, "--after-id", "1"}},
		{"a layout that is none", 2, []string{"migrate", "print", "--layout", "big"}},
		{"no URL", 2, []string{"migrate", "status"}},
		{"a URL that is none", 2, []string{"workers", "list", "--database", "postgres://h:port/app"}},
		{"an argument too many", 2, []string{"workers", "history", "1", "2"}},
		{"a worker that is not there", 2, []string{"workers", "retire", "70000", "--database", migrated}},
		{"no ID", 2, []string{"decode"}},
		{"an address that is none", 2, []string{"health", "--listen", "somewhere"}},

		{"a missing schema", 3, []string{"migrate", "status", "--database", empty}},
		{"a missing namespace", 3, []string{"workers", "list", "--database", empty}},
		{"no layout to decode by", 3, []string{"decode", "1", "--database", empty}},
		{"a copy", 3, []string{"migrate", "status", "--database", copied}},
		{"a copy that shall become something", 3, []string{"migrate", "up", "--database", copied}},
		{"a database that is closed", 3, []string{"migrate", "status", "--database", closed}},
		{"a home that is a copy", 3, []string{"namespace", "join", "--database", empty, "--home", copied}},

		{"nothing there", 4, []string{"migrate", "status", "--database", nowhere}},
		{"nothing there for up", 4, []string{"migrate", "up", "--database", nowhere}},
		{"nothing there to join", 4, []string{"namespace", "join", "--database", empty, "--home", nowhere}},
		{"nothing there for down", 4, []string{"migrate", "down", "--database", nowhere}},
		{"a login that is refused", 4, []string{"workers", "list", "--database", stranger}},
		{"a database that is not there", 4, []string{"decode", "1", "--database", server.In(t, migrated, "not_here")}},
		{"no server for the demo", 4, []string{"demo", "--listen", "127.0.0.1:0", "--postgres", nowhere}},
		{"no proxy", 4, []string{"health", "--listen", dead(t)}},
	} {
		if got := run(t, c.args...); got.code != c.code || c.code > 0 && !strings.HasPrefix(got.errs, "pgflurry: ") &&
			!strings.Contains(got.errs, "\npgflurry: ") {
			t.Errorf("%s: exit code %d, expected %d; it says\n%s%s", c.name, got.code, c.code, got.out, got.errs)
		}
	}
	runIn(t, []string{"PGFLURRY_WINDOW=long"}, serve...).is(t, 2, "PGFLURRY_WINDOW")
}
