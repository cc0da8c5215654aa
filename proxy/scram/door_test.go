//go:build unix

package scram_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/server"
)

// listen lets clients in that know a password. It answers nothing but an empty query. It returns its URL.
func listen(t *testing.T, v scram.Verifier, secure *pgtls.Client) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	t.Cleanup(func() {
		listener.Close()
		<-served
	})
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = letIn(conn, v, secure)
			conn.Close()
		}
	}()
	return fmt.Sprintf("postgres://%s/any?sslmode=prefer", listener.Addr())
}

// letIn serves one session.
func letIn(conn net.Conn, v scram.Verifier, secure *pgtls.Client) error {
	backend := pgproto3.NewBackend(conn, conn)
	var binding scram.Binding
	for {
		message, err := backend.ReceiveStartupMessage()
		if err != nil {
			return err
		}
		if _, is := message.(*pgproto3.StartupMessage); is {
			break
		}
		if _, is := message.(*pgproto3.SSLRequest); !is || secure == nil {
			if _, err := conn.Write([]byte("N")); err != nil {
				return err
			}
			continue
		}
		if _, err := conn.Write([]byte("S")); err != nil {
			return err
		}
		if conn, err = secure.Accept(conn, nil, nil); err != nil {
			return err
		}
		binding = scram.NewBinding(conn.(pgtls.Conn).Certificate())
		backend = pgproto3.NewBackend(conn, conn)
	}
	if err := authenticate(backend, scram.NewServer(v, binding)); err != nil {
		code := "28P01"
		if refused := new(scram.Error); errors.As(err, &refused) {
			code = refused.SQLSTATE
		}
		backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: err.Error()})
		return backend.Flush()
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for backend.Flush() == nil {
		switch message, err := backend.Receive(); message.(type) {
		case *pgproto3.Query:
			backend.Send(&pgproto3.EmptyQueryResponse{})
			backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		default:
			return err
		}
	}
	return nil
}

// authenticate runs the exchange.
func authenticate(backend *pgproto3.Backend, exchange *scram.Server) error {
	backend.Send(&pgproto3.AuthenticationSASL{AuthMechanisms: exchange.Mechanisms()})
	if err := backend.SetAuthType(pgproto3.AuthTypeSASL); err != nil {
		return err
	}
	for first := true; !exchange.Done(); first = false {
		if err := backend.Flush(); err != nil {
			return err
		}
		message, err := backend.Receive()
		if err != nil {
			return err
		}
		var data []byte
		switch m := message.(type) {
		case *pgproto3.SASLInitialResponse:
			data, err = m.Data, exchange.Choose(m.AuthMechanism)
		case *pgproto3.SASLResponse:
			data = m.Data
		default:
			err = fmt.Errorf("message %T", message)
		}
		if err != nil {
			return err
		}
		answer, err := exchange.Step(data)
		switch {
		case err != nil:
			return err
		case first:
			backend.Send(&pgproto3.AuthenticationSASLContinue{Data: answer})
			err = backend.SetAuthType(pgproto3.AuthTypeSASLContinue)
		default:
			backend.Send(&pgproto3.AuthenticationSASLFinal{Data: answer})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestPsqlAndPgxLogInWithAndWithoutChannelBinding(t *testing.T) {
	v, err := scram.NewVerifier("right", 0)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := pgtls.NewClient(authority.New(t, "ca").Issue(t, authority.Leaf{}).TLS, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, tls := listen(t, v, nil), listen(t, v, secure)
	for _, c := range []struct {
		name, url, binding string
		works              bool
	}{
		{"plain", plain, "prefer", true},
		{"plain", plain, "disable", true},
		{"plain", plain, "require", false},
		{"TLS", tls, "prefer", true},
		{"TLS", tls, "disable", true},
		{"TLS", tls, "require", true},
	} {
		more := "channel_binding=" + c.binding
		if err := psql(t, c.url, "anybody", "right", more); (err == nil) != c.works {
			t.Errorf("psql, %s, %s: %v", c.name, more, err)
		}
		if err := psql(t, c.url, "anybody", "wrong", more); err == nil {
			t.Errorf("psql, %s, %s: a wrong password gets in", c.name, more)
		} else if c.works && !strings.Contains(err.Error(), scram.ErrProof.Error()) {
			t.Errorf("psql, %s, %s: a wrong password: %v", c.name, more, err)
		}
		for password, right := range map[string]bool{"right": true, "wrong": false} {
			conn, err := pgx.Connect(server.Within(t), server.As(t, c.url, "anybody", password)+"&"+more)
			if err == nil {
				conn.Close(server.Within(t))
			}
			if (err == nil) != (c.works && right) {
				t.Errorf("pgx, %s, %s, %s password: %v", c.name, more, password, err)
			}
		}
	}
}
