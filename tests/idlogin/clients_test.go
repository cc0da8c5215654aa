package idlogin

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/account"
	"pgflurry/idserver"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/server"
)

// seen are parameters that a PostgreSQL of these tests reports.
var seen = map[string]string{
	"server_version": "15.18", "server_encoding": "UTF8", "client_encoding": "UTF8", "DateStyle": "ISO, MDY",
	"TimeZone": "UTC", "IntervalStyle": "postgres", "integer_datetimes": "on", "standard_conforming_strings": "on",
	"application_name": "", "is_superuser": "off", "session_authorization": "", "in_hot_standby": "off",
	"default_transaction_read_only": "off",
}

// ann is an account with the password right.
func ann(t testing.TB) account.Account {
	t.Helper()
	v, err := scram.NewVerifier("right", 0)
	if err != nil {
		t.Fatal(err)
	}
	return account.Account{Name: "ann", Verifier: v, ConnectionLimit: account.NoLimit}
}

// withAnn starts an ID database that ann may log in to.
func withAnn(t testing.TB, tls *pgtls.Client, method idserver.Method) (url string) {
	t.Helper()
	accounts := &members{}
	accounts.set(ann(t))
	at := start(t, "ids", seen, tls, func(s *idserver.Settings) { s.Accounts, s.Method = accounts.get, method })
	return "postgres://ann@" + at + "/ids"
}

// psql draws an ID.
func psql(t testing.TB, url, password string) (string, error) {
	t.Helper()
	command := exec.Command(server.Tool(t, "psql"), url, "-wXAtq", "-c", "SELECT next_snowflake()")
	command.Env = append(os.Environ(), "PGPASSWORD="+password, "PGCONNECT_TIMEOUT=20")
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestPsqlLogsInWithThePasswordAndIsToldOtherwiseInPostgreSQLsWords(t *testing.T) {
	url := withAnn(t, nil, idserver.SCRAM)
	if id, err := psql(t, url, "right"); err != nil || len(id) < 15 {
		t.Errorf("psql says %q, %v; expected an ID", id, err)
	}
	nobody := strings.Replace(url, "ann@", "bob@", 1)
	for name, c := range map[string]struct{ url, password, says string }{
		"a wrong password": {url, "wrong", `FATAL:  password authentication failed for user "ann"`},
		"nobody":           {nobody, "right", `FATAL:  password authentication failed for user "bob"`},
		"no password":      {url, "", "no password supplied"},
		"replication":      {with(url, "replication=database"), "right", "the ID database has no replication"},
	} {
		if out, err := psql(t, c.url, c.password); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: psql says %q, %v; expected %q", name, out, err, c.says)
		}
	}
}

func TestPsqlAndPgxLogInWithAndWithoutChannelBinding(t *testing.T) {
	ca := authority.New(t, "ca")
	for _, tls := range []bool{false, true} {
		for _, binding := range []string{"prefer", "disable", "require"} {
			works := tls || binding != "require"
			t.Run(fmt.Sprintf("TLS %v, %s", tls, binding), func(t *testing.T) {
				var offered *pgtls.Client
				if tls {
					offered = offer(t, ca, false)
				}
				url := with(withAnn(t, offered, idserver.SCRAM), "sslmode=prefer", "channel_binding="+binding)
				if out, err := psql(t, url, "right"); (err == nil) != works {
					t.Errorf("psql: %v, it says %q", err, out)
				}
				out, err := psql(t, url, "wrong")
				if err == nil || works && !strings.Contains(out, `password authentication failed for user "ann"`) {
					t.Errorf("psql with a wrong password: %v, it says %q", err, out)
				}
				for password, right := range map[string]bool{"right": true, "wrong": false} {
					config, err := pgx.ParseConfig(url)
					if err != nil {
						t.Fatal(err)
					}
					config.Password = password
					conn, err := pgx.ConnectConfig(server.Within(t), config)
					if err == nil {
						conn.Close(server.Within(t))
					}
					if (err == nil) != (works && right) {
						t.Errorf("pgx with the password %s: %v", password, err)
					}
				}
			})
		}
	}
}

func TestPsqlAndPgxBindTheirLoginToTheCertificate(t *testing.T) {
	ca := authority.New(t, "ca")
	root := authority.Write(t, t.TempDir(), "ca.pem", ca.PEM)
	url := with(withAnn(t, offer(t, ca, false), idserver.SCRAM), "sslmode=verify-full", "sslrootcert="+root,
		"channel_binding=require")
	if out, err := psql(t, url, "right"); err != nil {
		t.Errorf("psql: %v, it says %q", err, out)
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "right"
	conn, err := pgx.ConnectConfig(server.Within(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if server.Value[int64](t, conn, "SELECT next_snowflake()") == 0 {
		t.Error("pgx got no ID")
	}
	if out, err := psql(t, with(url, "sslmode=disable"), "right"); err == nil ||
		!strings.Contains(out, "channel binding required") {
		t.Errorf("psql without TLS: %v, it says %q", err, out)
	}
}

func TestPsqlAndPgxLogInByCertificate(t *testing.T) {
	ca := authority.New(t, "ca")
	dir := t.TempDir()
	root := authority.Write(t, dir, "ca.pem", ca.PEM)
	url := with(withAnn(t, offer(t, ca, true), idserver.Certificate), "sslmode=verify-full", "sslrootcert="+root)
	cert, key := ca.Issue(t, authority.Leaf{CommonName: "ann"}).Write(t, dir, "ann")
	hers := with(url, "sslcert="+cert, "sslkey="+key)
	if out, err := psql(t, hers, ""); err != nil {
		t.Errorf("psql: %v, it says %q", err, out)
	}
	conn, err := pgx.Connect(server.Within(t), hers)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close(t.Context())
	cert, key = ca.Issue(t, authority.Leaf{CommonName: "bob"}).Write(t, dir, "bob")
	his := with(url, "sslcert="+cert, "sslkey="+key)
	const says = `certificate authentication failed for user "ann"`
	if out, err := psql(t, his, ""); err == nil || !strings.Contains(out, says) {
		t.Errorf("psql of another: %v, it says %q", err, out)
	}
}

func TestPgxSpeaksTheNewerProtocolAndCancelsWhatDoesNotLast(t *testing.T) {
	url := withAnn(t, nil, idserver.SCRAM)
	for _, version := range []string{"3.0", "3.2"} {
		config, err := pgconn.ParseConfig(with(url, "max_protocol_version="+version))
		if err != nil {
			t.Fatal(err)
		}
		config.Password = "right"
		conn, err := pgconn.ConnectConfig(server.Within(t), config)
		if err != nil {
			t.Fatal(err)
		}
		if size := len(conn.SecretKey()); version == "3.2" && size != 32 || version == "3.0" && size != 4 {
			t.Errorf("%s: a key of %d bytes", version, size)
		}
		if err := conn.CancelRequest(server.Within(t)); err != nil {
			t.Errorf("%s: a request to cancel: %v", version, err)
		}
		if _, err := conn.Exec(server.Within(t), "SELECT next_snowflake()").ReadAll(); err != nil {
			t.Errorf("%s: after a request to cancel: %v", version, err)
		}
		conn.Close(server.Within(t))
	}
}

// libpq tries the next host after a server that says 57P03.
func TestPsqlGoesOnToTheNextProxyWhereTheFirstCannotLogItIn(t *testing.T) {
	unread := start(t, "ids", seen, nil, func(s *idserver.Settings) {
		s.Accounts = func() *account.List { return nil }
	})
	old := start(t, "ids", seen, nil, func(s *idserver.Settings) {
		list := account.NewList([]account.Account{ann(t)}, []byte("secret"), time.Now().Add(-time.Hour))
		s.Accounts, s.MaxAge = func() *account.List { return list }, time.Minute
	})
	good := withAnn(t, nil, idserver.SCRAM)
	url := strings.Replace(good, "ann@", "ann@"+unread+","+old+",", 1)
	if out, err := psql(t, url, "right"); err != nil {
		t.Errorf("psql: %v, it says %q", err, out)
	}
	if out, err := psql(t, "postgres://ann@"+old+"/ids", "right"); err == nil ||
		!strings.Contains(out, "logins stop after 1m0s") {
		t.Errorf("psql: %v, it says %q", err, out)
	}
}

func TestManyLoginsAtOnceFromOneAddressAllSucceed(t *testing.T) {
	url := withAnn(t, nil, idserver.SCRAM)
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "right"
	wrong := config.Copy()
	wrong.Password = "wrong"
	var all sync.WaitGroup
	failed := make(chan error, 200)
	for i := range 100 {
		all.Go(func() {
			if i%20 == 0 { // five in all: fewer than the allowed burst
				_, err := pgconn.ConnectConfig(t.Context(), wrong.Copy())
				var refused *pgconn.PgError
				if !errors.As(err, &refused) || refused.Code != "28P01" {
					failed <- fmt.Errorf("with a wrong password: %w", err)
				}
			}
			conn, err := pgconn.ConnectConfig(t.Context(), config.Copy())
			if err != nil {
				failed <- err
				return
			}
			conn.Close(t.Context())
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}
