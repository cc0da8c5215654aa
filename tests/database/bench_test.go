//go:build full

package database

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// BenchmarkADraw makes one draw at a time by one client over loopback. It tries every way directly, and through the
// proxy if the proxy answers it. PGFLURRY_TEST_REDIS=1 adds a real Redis. Neither PostgreSQL nor Redis waits for the
// disk.
func BenchmarkADraw(b *testing.B) {
	url := server.Migrated(b)
	server.Exec(b, url, `INSERT INTO pgflurry.auto_increment (name) VALUES ('a');
		SELECT pgflurry.create_offset_sequences('ticket', 2)`)
	direct, through := server.Connect(b, url), server.Connect(b, program.Serve(b, url, "ways").URL)
	for _, way := range []struct {
		name string
		call string
		conn *pgx.Conn
	}{
		{"nothing", "1::bigint", direct},
		{"offset sequence", "nextval('ticket_1')", direct},
		{"next_snowflake", "next_snowflake()", direct},
		{"next_snowflake through proxy", "next_snowflake()", through},
		{"next_segment", "pgflurry.next_segment('leaf-segment-test')", direct},
		{"next_segment through proxy", "pgflurry.next_segment('leaf-segment-test')", through},
		{"next_auto_increment", "pgflurry.next_auto_increment('a')", direct},
		{"next_replace_id", "pgflurry.next_replace_id('a')", direct},
		{"incr", "pgflurry.incr('a')", direct},
		{"uuidv4", "pgflurry.uuidv4()", direct},
		{"uuidv7", "pgflurry.uuidv7()", direct},
		{"issue and redeem token", "pgflurry.redeem_token(pgflurry.issue_token('1 hour'))", direct},
		{"try_lock and unlock", "pgflurry.try_lock('a', 'me', '1 hour'), pgflurry.unlock('a', 'me')", direct},
	} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := way.conn.Exec(context.Background(), "SELECT "+way.call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Redis INCR", func(b *testing.B) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+redisServer(b))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		for replies := bufio.NewReader(conn); b.Loop(); {
			if _, err := fmt.Fprint(conn, "INCR a\r\n"); err != nil {
				b.Fatal(err)
			}
			if reply, err := replies.ReadString('\n'); err != nil || reply[0] != ':' {
				b.Fatalf("%q, %v", reply, err)
			}
		}
	})
}
