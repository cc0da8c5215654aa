package postgres

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// fails starts a cluster that cannot start, and returns the error's text.
func fails(t *testing.T, s Settings) string {
	t.Helper()
	cluster, err := Start(t.Context(), s)
	if err == nil {
		stop(t, cluster)
		t.Fatal("the cluster started")
	}
	return err.Error()
}

func TestSecondRunUsesTheDataFolderAgain(t *testing.T) {
	settings := quick(t)
	first := start(t, settings)
	ask(t, first.URL("postgres"), "with made as (select lo_create(4711)) select made::text from made")
	stop(t, first)
	second := start(t, settings)
	if got := ask(t, second.URL("postgres"), "select count(*)::text from pg_largeobject_metadata"); got != "1" {
		t.Errorf("of the first run's one object the second has %q", got)
	}
}

func TestPidFileOfADeadServerDoesNotStopTheNext(t *testing.T) {
	settings := quick(t)
	first := start(t, settings)
	stop(t, first)
	// As after a crash of the machine: the process number now belongs to another program, which is this test.
	left := fmt.Sprintf("%d\n%s\n1\n%d\n\n\n\nready\n", os.Getpid(), settings.Data, first.Port)
	if err := os.WriteFile(filepath.Join(settings.Data, "postmaster.pid"), []byte(left), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, settings)
}

func TestDataFolderOfAnotherMajorVersionIsRefused(t *testing.T) {
	settings := quick(t)
	stop(t, start(t, settings))
	if err := os.WriteFile(filepath.Join(settings.Data, "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := fails(t, settings)
	if !strings.Contains(got, "was made by PostgreSQL 9, but the server found is PostgreSQL") {
		t.Error(got)
	}
}

func TestForeignFolderIsRefusedAndUntouched(t *testing.T) {
	settings := quick(t)
	letter := filepath.Join(settings.Data, "letter.txt")
	if err := errors.Join(os.Mkdir(settings.Data, 0o755), os.WriteFile(letter, []byte("dear"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := fails(t, settings); !strings.Contains(got, "is not empty and holds no PostgreSQL cluster") {
		t.Error(got)
	}
	if _, err := os.Stat(letter); err != nil {
		t.Error(err)
	}
}

func TestPortInUseIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	settings := quick(t)
	settings.Port = listener.Addr().(*net.TCPAddr).Port
	if got := fails(t, settings); !strings.Contains(got, "PostgreSQL cannot have port "+strconv.Itoa(settings.Port)) {
		t.Error(got)
	}
}

func TestServerThatRefusesToStartIsQuoted(t *testing.T) {
	settings := quick(t)
	settings.Options["shared_buffers"] = "a lot"
	got := fails(t, settings)
	if !strings.Contains(got, `FATAL:  invalid value for parameter "shared_buffers": "a lot"`) {
		t.Error(got)
	}
}

func TestPasswordIsAskedForWhenTheRulesSaySo(t *testing.T) {
	settings := quick(t)
	settings.Password = "it's secret"
	settings.HBA = "host all all 127.0.0.1/32 scram-sha-256\n"
	cluster := start(t, settings)
	if got := ask(t, cluster.URL("postgres"), "select current_user::text"); got != "postgres" {
		t.Errorf("current_user is %q", got)
	}
	if left, _ := filepath.Glob(settings.Data + "*password*"); left != nil {
		t.Errorf("the password is left in %v", left)
	}
}
