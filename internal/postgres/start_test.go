package postgres

import (
	"context"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// place is a folder for data folders that the server's user can reach. It could not enter t.TempDir (mode 0700).
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pgflurry-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quick are settings of a cluster for tests.
func quick(t *testing.T) Settings {
	t.Helper()
	provider, err := Locate(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if provider.Docker.Image != "" {
		t.Skip("this machine has Docker and no server binaries, which this test is about; " +
			"the tests of containers run instead")
	}
	return Settings{Provider: provider, Data: place(t) + "/data", Options: map[string]string{"fsync": "off"}}
}

func start(t *testing.T, s Settings) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cluster, err := Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cluster) })
	return cluster
}

func stop(t *testing.T, cluster *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := cluster.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// socketURL is the cluster's URL over the Unix socket.
func socketURL(c *Cluster, database string) string {
	values := url.Values{"host": {c.SocketDir}, "port": {strconv.Itoa(c.Port)}}
	u := url.URL{Scheme: "postgres", Path: "/" + database, User: c.userinfo(), RawQuery: values.Encode()}
	return u.String()
}

// ask runs a statement that returns one text.
func ask(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var answer string
	if err := conn.QueryRow(t.Context(), sql).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestClusterAnswersOverTCPAndUnixSocketAndStops(t *testing.T) {
	cluster := start(t, quick(t))
	for _, url := range []string{cluster.URL("postgres"), socketURL(cluster, "postgres")} {
		if got := ask(t, url, "select current_user::text"); got != "postgres" {
			t.Errorf("%s: current_user is %q, expected postgres", url, got)
		}
	}
	stop(t, cluster)
	select {
	case <-cluster.Done():
	default:
		t.Error("Stop returned before the server had ended")
	}
}
