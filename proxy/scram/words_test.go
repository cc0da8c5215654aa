//go:build unix

package scram_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/fault"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/server"
)

// script is what a client sends. In its last message NONCE stands for the nonce of the server.
type script struct{ mechanism, first, last string }

// ending is how an exchange ends: a SQLSTATE and a message, or the server's proof.
type ending struct{ code, message string }

// wrongProof has the right length.
var wrongProof = base64.StdEncoding.EncodeToString(make([]byte, 32))

// scripts are of clients that PostgreSQL refuses before it checks their proof, or because of the proof.
func scripts(plain bool) map[string]script {
	const first = "n,,n=,r=abc"
	all := map[string]script{
		"no such mechanism":        {"SCRAM-SHA-1", first, ""},
		"nothing of a flag":        {scram.Plain, "x", ""},
		"a flag of no kind":        {scram.Plain, "q,,n=,r=abc", ""},
		"a flag without comma":     {scram.Plain, "nn,,n=,r=abc", ""},
		"an identity":              {scram.Plain, "n,a=me,n=,r=abc", ""},
		"something for identity":   {scram.Plain, "n,b,n=,r=abc", ""},
		"an extension":             {scram.Plain, "n,,m=x,n=,r=abc", ""},
		"no name":                  {scram.Plain, "n,,r=abc", ""},
		"no nonce":                 {scram.Plain, "n,,n=", ""},
		"something for a nonce":    {scram.Plain, "n,,n=,x=abc", ""},
		"a nonce with a space":     {scram.Plain, "n,,n=,r=a b", ""},
		"a nonce beyond ASCII":     {scram.Plain, "n,,n=,r=a\u00e9", ""},
		"a binding without PLUS":   {scram.Plain, "p=tls-server-end-point,,n=,r=abc", ""},
		"a wrong proof":            {scram.Plain, first, "c=biws,r=NONCE,p=" + wrongProof},
		"an extension at the end":  {scram.Plain, first, "c=biws,r=NONCE,x=1,p=" + wrongProof},
		"a name":                   {scram.Plain, "n,,n=any,r=abc", "c=biws,r=NONCE,p=" + wrongProof},
		"an extension at first":    {scram.Plain, "n,,n=,r=abc,x=1", "c=biws,r=NONCE,p=" + wrongProof},
		"a binding of the other":   {scram.Plain, first, "c=eSws,r=NONCE,p=" + wrongProof},
		"a binding that is none":   {scram.Plain, first, "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCws,r=NONCE,p=" + wrongProof},
		"another nonce":            {scram.Plain, first, "c=biws,r=abcdef,p=" + wrongProof},
		"no proof":                 {scram.Plain, first, "c=biws,r=NONCE"},
		"no nonce at the end":      {scram.Plain, first, "c=biws,p=" + wrongProof},
		"no binding":               {scram.Plain, first, "r=NONCE,p=" + wrongProof},
		"a short proof":            {scram.Plain, first, "c=biws,r=NONCE,p=AAAA"},
		"a proof that is none":     {scram.Plain, first, "c=biws,r=NONCE,p=!!!!"},
		"something behind a proof": {scram.Plain, first, "c=biws,r=NONCE,p=" + wrongProof + ",x=1"},
	}
	if plain {
		all["PLUS without TLS"] = script{scram.Plus, "p=tls-server-end-point,,n=,r=abc", ""}
		all["the flag y without TLS"] = script{scram.Plain, "y,,n=,r=abc", "c=eSws,r=NONCE,p=" + wrongProof}
		return all
	}
	all["the flag y"] = script{scram.Plain, "y,,n=,r=abc", ""}
	all["PLUS and no binding"] = script{scram.Plus, first, ""}
	all["PLUS and the flag y"] = script{scram.Plus, "y,,n=,r=abc", ""}
	all["another binding"] = script{scram.Plus, "p=tls-unique,,n=,r=abc", ""}
	all["a binding without a name"] = script{scram.Plus, "p,,n=,r=abc", ""}
	all["bound to nothing"] = script{
		scram.Plus, "p=tls-server-end-point,,n=,r=abc", "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCws,r=NONCE,p=" + wrongProof,
	}
	return all
}

// finish is the client's last message.
func (s script) finish(challenge string) string {
	nonce, _, _ := strings.Cut(strings.TrimPrefix(challenge, "r="), ",")
	return strings.ReplaceAll(s.last, "NONCE", nonce)
}

// here plays a script with our server.
func (s script) here(v scram.Verifier, b scram.Binding) ending {
	exchange := scram.NewServer(v, b)
	err := exchange.Choose(s.mechanism)
	var answer []byte
	if err == nil {
		answer, err = exchange.Step([]byte(s.first))
	}
	if err == nil && s.last != "" {
		_, err = exchange.Step([]byte(s.finish(string(answer))))
	}
	var refused fault.Error
	switch {
	case errors.As(err, &refused):
		return ending{refused.SQLState, refused.Message}
	case errors.Is(err, scram.ErrProof):
		return ending{code: "28P01"}
	}
	return ending{message: "let in, or not yet refused"}
}

// there plays a script with PostgreSQL.
func (s script) there(t *testing.T, address, user string, secure bool) ending {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(server.Patience)); err != nil {
		t.Fatal(err)
	}
	if secure {
		if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 1 {
			t.Fatal(err)
		}
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	frontend := pgproto3.NewFrontend(conn, conn)
	frontend.Send(&pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersion30,
		Parameters:      map[string]string{"user": user, "database": "postgres"},
	})
	say := func() ending {
		t.Helper()
		if err := frontend.Flush(); err != nil {
			t.Fatal(err)
		}
		message, err := frontend.Receive()
		switch m := message.(type) {
		case *pgproto3.ErrorResponse:
			return ending{m.Code, m.Message}
		case *pgproto3.AuthenticationSASLContinue:
			return ending{message: string(m.Data)}
		case *pgproto3.AuthenticationSASL:
			return ending{}
		}
		t.Fatalf("PostgreSQL sends %T, %v", message, err)
		return ending{}
	}
	say()
	initial := append([]byte(s.mechanism), 0)
	initial = append(binary.BigEndian.AppendUint32(initial, uint32(len(s.first))), s.first...)
	frontend.Send(&pgproto3.SASLResponse{Data: initial})
	e := say()
	if e.code == "" && s.last != "" {
		frontend.Send(&pgproto3.SASLResponse{Data: []byte(s.finish(e.message))})
		e = say()
	}
	switch e.code {
	case "28P01":
		e.message = "" // it names the user
	case "":
		e.message = "let in, or not yet refused"
	}
	return e
}

func TestScramInvariant5WhoeverIsRefusedReadsWhatPostgreSQLSays(t *testing.T) {
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	loginRole(t, url, "scripted", "right")
	conn := server.Connect(t, url)
	text := server.Value[string](t, conn, "SELECT rolpassword FROM pg_authid WHERE rolname = 'scripted'")
	v, err := scram.ParseVerifier(text)
	if err != nil {
		t.Fatal(err)
	}
	pair := authority.New(t, "ca").Issue(t, authority.Leaf{})
	for _, plain := range []bool{true, false} {
		var binding scram.Binding
		if !plain {
			server.EnableTLS(t, cluster, server.TLS{Cert: pair.Cert, Key: pair.Key})
			binding = scram.NewBinding(pair.TLS.Certificate[0])
		}
		for name, s := range scripts(plain) {
			theirs := s.there(t, server.Parse(t, url).Host, "scripted", !plain)
			if ours := s.here(v, binding); ours != theirs {
				t.Errorf("%s (TLS %v): PostgreSQL ends it by %q, we by %q", name, !plain, theirs, ours)
			}
		}
	}
}
