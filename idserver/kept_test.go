package idserver

import (
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What a client made just before its session was full is there whole, or not at all.
func TestAPortalForWhichThereIsNoRoomIsNotThere(t *testing.T) {
	made := map[string]said{
		"by Bind":    {bind("p", "s"), syncs},
		"by DECLARE": {&pgproto3.Query{String: "DECLARE p CURSOR FOR SELECT 1"}},
	}
	for name, makes := range made {
		t.Run(name, func(t *testing.T) {
			for room := costOf("p"); ; room += 7 {
				conn := &scripted{piece: 8192}
				s, err := sessionOn(testServer(t, &counter{}), conn)
				if err != nil {
					t.Fatal(err)
				}
				defer s.cancel()
				hears := func(messages ...pgproto3.FrontendMessage) string {
					conn.heard.Reset()
					conn.says = encoded(messages...)
					if err := s.run(); err != io.EOF {
						t.Fatalf("with room for %d bytes the session ended with %v", room, err)
					}
					return conn.heard.String()
				}
				hears(parse("s", "SELECT 1"), syncs, &pgproto3.Query{String: "BEGIN; SAVEPOINT a"})
				kept := s.objects.kept
				s.objects.kept = maxKept - room
				fits := !strings.Contains(hears(makes...), "54000")
				hears(&pgproto3.Query{String: "ROLLBACK TO a"})
				if heard := hears(execute("p", 0), syncs); !strings.Contains(heard, "34000") {
					t.Errorf("with room for %d bytes the portal is there: %q", room, heard)
				}
				s.objects.kept -= maxKept - room - kept
				s.forgetAll(t)
				if fits {
					break
				}
			}
		})
	}
}
