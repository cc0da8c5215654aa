package idsessions

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/account"
	"pgflurry/proxy/idserver"
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

// draws logs in with psql and draws an ID.
func draws(t *testing.T, url, password string) (said string, err error) {
	t.Helper()
	out, said, ok := psql(t, url, "SELECT next_snowflake()", "PGPASSWORD="+password, "PGCONNECT_TIMEOUT=20")
	if !ok {
		err = errors.New(said)
	}
	return out + said, err
}

func TestPsqlAndPgxLogInWithAndWithoutChannelBinding(t *testing.T) {
	t.Parallel()
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
				if out, err := draws(t, url, "right"); (err == nil) != works {
					t.Errorf("psql: %v, it says %q", err, out)
				}
				out, err := draws(t, url, "wrong")
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

func TestPgxSpeaksTheNewerProtocolAndCancelsWhatDoesNotLast(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	unread := start(t, "ids", seen, nil, func(s *idserver.Settings) {
		s.Accounts = func() *account.List { return nil }
	})
	old := start(t, "ids", seen, nil, func(s *idserver.Settings) {
		list := account.NewList([]account.Account{ann(t)}, []byte("secret"), time.Now().Add(-time.Hour))
		s.Accounts, s.MaxAge = func() *account.List { return list }, time.Minute
	})
	good := withAnn(t, nil, idserver.SCRAM)
	url := strings.Replace(good, "ann@", "ann@"+unread+","+old+",", 1)
	if out, err := draws(t, url, "right"); err != nil {
		t.Errorf("psql: %v, it says %q", err, out)
	}
	if out, err := draws(t, "postgres://ann@"+old+"/ids", "right"); err == nil ||
		!strings.Contains(out, "logins stop after 1m0s") {
		t.Errorf("psql: %v, it says %q", err, out)
	}
}

func TestManyLoginsAtOnceFromOneAddressAllSucceed(t *testing.T) {
	t.Parallel()
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
