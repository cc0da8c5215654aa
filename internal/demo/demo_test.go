package demo

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/fault"
	"pgflurry/tests/support/scripted"
)

func TestPasteLineIsForTheProxyAndShowsNoPassword(t *testing.T) {
	const server = "postgres://ann:secret@db.example:5432/shop?sslmode=require"
	cases := []struct {
		address net.Addr
		want    string
	}{
		{
			&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6532},
			"psql 'postgres://ann@127.0.0.1:6532/shop?sslmode=disable' -c 'SELECT next_snowflake()'",
		},
		{
			&net.TCPAddr{IP: net.IPv6unspecified, Port: 6532},
			"psql 'postgres://ann@127.0.0.1:6532/shop?sslmode=disable' -c 'SELECT next_snowflake()'",
		},
		{
			&net.UnixAddr{Name: "/run/flurry/.s.PGSQL.6532", Net: "unix"},
			"psql 'postgres://ann@/shop?host=%2Frun%2Fflurry&port=6532' -c 'SELECT next_snowflake()'",
		},
	}
	for _, c := range cases {
		config, err := throughProxy(server, c.address)
		if err != nil {
			t.Fatal(err)
		}
		if config.Password != "secret" || config.TLSConfig != nil || config.Fallbacks != nil {
			t.Errorf("the way through %s has password %q, TLS %v, fallbacks %v",
				c.address, config.Password, config.TLSConfig, config.Fallbacks)
		}
		if got := pasteLine(config); got != c.want {
			t.Errorf("paste %s\nexpected %s", got, c.want)
		}
	}
}

func TestSocketThatClientsCannotFindIsRefusedByName(t *testing.T) {
	_, err := throughProxy("postgres://db/shop", &net.UnixAddr{Name: "/run/flurry.sock", Net: "unix"})
	if err == nil || !strings.Contains(err.Error(), "named .s.PGSQL.PORT") {
		t.Error(err)
	}
}

func TestDataFolderIsTheOneNamedElseBelowTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if got, err := (Settings{Data: "here"}).folder(); err != nil || got != filepath.Join(dir, "here") {
		t.Errorf("--data here is %s, %v", got, err)
	}
	want := filepath.Join(dir, "pgflurry-data")
	if os.Getuid() == 0 { // the server's user cannot enter the folder of a test
		want = "/var/lib/pgflurry-data"
	}
	if got, err := (Settings{}).folder(); err != nil || got != want {
		t.Errorf("without --data the folder is %s, expected %s: %v", got, want, err)
	}
}

func TestDemoSaysWhatToDoWhenAGivenServerRefusesIt(t *testing.T) {
	address := scripted.Refusing(t, &pgproto3.ErrorResponse{
		Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "owner"`,
	})
	_, err := useServer(t.Context(), "postgres://owner:s3cret@"+address+"/app", io.Discard)
	want := "cannot connect to " + address +
		`/app as "owner": password authentication failed for user "owner" (SQLSTATE 28P01)`
	if err == nil || err.Error() != want || !strings.Contains(fault.HintOf(err), "PGPASSWORD") {
		t.Errorf("%v (hint %q), want %s and a hint at PGPASSWORD", err, fault.HintOf(err), want)
	}
	if _, err := useServer(t.Context(), "mysql://owner:s3cret@db/app", io.Discard); err == nil ||
		!strings.HasPrefix(err.Error(), "--postgres is not a connection string") {
		t.Errorf("%v, want one that names --postgres and leaves out the URL", err)
	}
}
