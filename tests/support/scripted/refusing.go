package scripted

import (
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Refusing starts a server without TLS that answers every session with these messages. It returns the address.
func Refusing(t testing.TB, messages ...pgproto3.BackendMessage) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(conn, conn)
			for {
				message, err := backend.ReceiveStartupMessage()
				if err != nil {
					break
				}
				if _, is := message.(*pgproto3.SSLRequest); is {
					_, _ = conn.Write([]byte("N"))
					continue
				}
				for _, m := range messages {
					backend.Send(m)
				}
				_ = backend.Flush()
				break
			}
			conn.Close()
		}
	}()
	return ln.Addr().String()
}
