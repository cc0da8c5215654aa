//go:build full

package idle

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"pgflurry/internal/account"
	"pgflurry/internal/fault"
	"pgflurry/proxy"
	"pgflurry/proxy/idserver"
	"pgflurry/proxy/pgtls"
	verifiers "pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/packet"
	"pgflurry/tests/support/proxytest"
)

const (
	idDatabase = "pgflurry"
	idUser     = "ann"
	idPassword = "a password of ten thousand"
)

func BenchmarkIdleIDSessions(b *testing.B) {
	for _, of := range []struct {
		name string
		tls  bool
	}{{"plain", false}, {"TLS", true}} {
		b.Run(of.name, func(b *testing.B) {
			folder := ""
			if of.tls {
				folder = certificate(b)
			}
			for b.Loop() {
				server := start(b, "ids", folder)
				// each session draws two IDs: by a Query, and by a prepared statement
				measure(b, server, room(b, 1), 2, func() (net.Conn, error) {
					return workInside(server.address, of.tls)
				})
				server.end(b)
			}
		})
	}
}

// certificate makes a certificate and its key in a folder.
func certificate(b *testing.B) (folder string) {
	b.Helper()
	folder = b.TempDir()
	authority.New(b, "idle").Issue(b, authority.Leaf{Hosts: []string{"127.0.0.1"}}).Write(b, folder, "server")
	return folder
}

// beIDs serves the ID database without any PostgreSQL. It uses the certificate of a folder, if that is named.
func beIDs() {
	verifier, err := verifiers.NewVerifier(idPassword, verifiers.DefaultIterations)
	check(err)
	list := account.NewList([]account.Account{{Name: idUser, Verifier: verifier, ConnectionLimit: account.NoLimit}},
		make([]byte, 32), time.Now())
	settings := proxytest.Settings("127.0.0.1:1")
	settings.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) // so a session keeps what the log needs, as in use
	ids, err := idserver.New(idserver.Settings{
		Database: idDatabase, IDs: settings.IDs, Log: settings.Log, Accounts: func() *account.List { return list },
		Unavailable: func(error) fault.Error { return fault.Error{SQLState: "57P03"} },
		Parameters: func() map[string]string {
			return map[string]string{
				"server_version": "15.4", "server_encoding": "UTF8", "integer_datetimes": "on", "TimeZone": "Etc/UTC",
			}
		},
	})
	check(err)
	settings.Inside = ids
	if folder := os.Args[1]; folder != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "server.crt"), filepath.Join(folder, "server.key"))
		check(err)
		settings.ClientTLS, err = pgtls.NewClient(pair, nil)
		check(err)
	}
	p, err := proxy.New(settings)
	check(err)
	listener := listen()
	go func() { check(p.Serve(listener)) }()
	answer(func(r *report) {
		st := ids.Stats()
		r.Sessions, r.IDs = st.Sessions(), st.IDs
	})
}

// workInside opens a session in the ID database, draws an ID by a Query and one by a prepared statement, and leaves it
// idle.
func workInside(address string, inTLS bool) (net.Conn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if inTLS {
		if conn, err = overTLS(conn); err != nil {
			return conn, err
		}
	}
	in := bufio.NewReaderSize(conn, 512)
	if err := logIn(conn, in, newKeys().NewConversation()); err != nil {
		return conn, err
	}
	for _, said := range [][]byte{
		message('Q', "SELECT next_snowflake()\x00"),
		bytes.Join([][]byte{
			message('P', "name\x00SELECT next_snowflake()\x00\x00\x00"),
			message('B', "\x00name\x00\x00\x00\x00\x00\x00\x00"),
			message('E', "\x00\x00\x00\x00\x00"), message('S', ""),
		}, nil),
	} {
		if _, err := conn.Write(said); err != nil {
			return conn, err
		}
		if err := untilReady(in); err != nil {
			return conn, fmt.Errorf("after %q: %w", said, err)
		}
	}
	return conn, nil
}

// overTLS starts TLS and accepts any certificate.
func overTLS(conn net.Conn) (net.Conn, error) {
	if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil {
		return conn, err
	}
	var answer [1]byte
	if _, err := conn.Read(answer[:]); err != nil || answer[0] != 'S' {
		return conn, fmt.Errorf("asked for TLS, it said %q, %w", answer, err)
	}
	inside := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	return inside, inside.Handshake()
}

// newKeys returns a client that has yet to derive its keys from the password, with 4,096 iterations.
func newKeys() *scram.Client {
	client, err := scram.SHA256.NewClientUnprepped("", idPassword, "") // the user is in the startup packet
	check(err)
	return client
}

// errNoPlace stands for the server's 53300.
var errNoPlace = errors.New("too many connections")

// logIn logs in by SCRAM-SHA-256, up to the first ReadyForQuery.
func logIn(conn net.Conn, in *bufio.Reader, as *scram.ClientConversation) error {
	said := packet.Startup(3<<16, "user", idUser, "database", idDatabase, "application_name", "idle",
		"client_encoding", "UTF8")
	for {
		if _, err := conn.Write(said); err != nil {
			return err
		}
		kind, body, err := frame(in)
		if err != nil {
			return err
		}
		if kind == 'E' && bytes.Contains(body, []byte("\x00C53300\x00")) {
			return errNoPlace
		}
		if kind != 'R' || len(body) < 4 {
			return fmt.Errorf("at login it said %q %q", kind, body)
		}
		switch code, data := binary.BigEndian.Uint32(body), string(body[4:]); code {
		case 10: // SASL
			first, err := as.Step("")
			if err != nil {
				return err
			}
			text := binary.BigEndian.AppendUint32([]byte("SCRAM-SHA-256\x00"), uint32(len(first)))
			said = message('p', string(append(text, first...)))
		case 11: // SASLContinue
			last, err := as.Step(data)
			if err != nil {
				return err
			}
			said = message('p', last)
		case 12: // SASLFinal; AuthenticationOk is behind it
			if _, err := as.Step(data); err != nil {
				return err
			}
			return untilReady(in)
		default:
			return fmt.Errorf("at login it asked for %d", code)
		}
	}
}

// answer replies to each line with a report of this process, until its input ends.
func answer(add func(*report)) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		r := describe(lines.Text())
		add(&r)
		line, err := json.Marshal(r)
		check(err)
		fmt.Println(string(line))
	}
}
