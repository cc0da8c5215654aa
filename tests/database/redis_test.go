//go:build full

package database

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/server"
)

// redisServer starts a Redis without persistence and returns its port. PGFLURRY_TEST_REDIS=1 asks for it; then a
// missing Redis is a failure.
func redisServer(t testing.TB) (port string) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_REDIS") != "1" {
		t.Skip("PGFLURRY_TEST_REDIS=1 compares the counters with a real Redis")
	}
	port = strconv.Itoa(server.FreePort(t))
	process := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatalf("%v: apt-get install redis-server", err)
	}
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	log := make([]byte, 0, 4096)
	for buffer := make([]byte, 512); !strings.Contains(string(log), "Ready to accept connections"); {
		n, err := out.Read(buffer)
		if log = append(log, buffer[:n]...); err != nil {
			t.Fatalf("redis-server does not start: %v\n%s", err, log)
		}
	}
	return port
}

// redis returns a function that sends commands to a Redis, one a line. It returns the replies: an error begins with
// ERR, and nil is empty.
func redis(t *testing.T) func(commands []string) []string {
	t.Helper()
	port := redisServer(t)
	return func(commands []string) []string {
		t.Helper()
		client := exec.CommandContext(server.Within(t), "redis-cli", "-h", "127.0.0.1", "-p", port)
		client.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
		replies, err := client.Output()
		if err != nil {
			t.Fatalf("redis-cli: %v: apt-get install redis-tools", err)
		}
		// redis-cli adds an empty line after an error
		list := strings.Split(strings.TrimSuffix(string(replies), "\n"), "\n")
		var kept []string
		for i, line := range list {
			if line != "" || i == 0 || !strings.HasPrefix(list[i-1], "ERR") {
				kept = append(kept, line)
			}
		}
		return kept
	}
}

// answer returns the value of one of our functions in Redis' notation.
func answer(t *testing.T, conn *pgx.Conn, query string, args ...any) string {
	t.Helper()
	var n *int64
	err := conn.QueryRow(server.Within(t), query, args...).Scan(&n)
	said := new(pgconn.PgError)
	switch {
	case errors.As(err, &said) && strings.HasPrefix(said.Code, "22"):
		return "ERR"
	case err != nil:
		t.Fatal(err)
	case n == nil:
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func TestCountersFollowARealRedisInWhatIsAnIntegerWhatIsMissingAndWhatOverflows(t *testing.T) {
	t.Parallel()
	send := redis(t)
	conn := server.Connect(t, server.Migrated(t))
	integers := []string{
		"0", "1", "-1", "10", "9223372036854775807", "9223372036854775806", "-9223372036854775807",
		"-9223372036854775808",
	}
	others := []string{
		"9223372036854775808", "-9223372036854775809", "99999999999999999999", "01", "-01", "+1", "-0", "00", " 1",
		"1 ", "", "-", "1.0", "1e3", "abc", "0x10", "--1", "1_000", "٣",
	}

	var commands, want []string // each function of ours has a command of Redis
	ask := func(command, query string, args ...any) {
		commands = append(commands, command)
		want = append(want, answer(t, conn, query, args...))
	}
	for i, text := range append(integers, others...) {
		key := fmt.Sprint("set", i)
		refused := answer(t, conn, "SELECT pgflurry.set_counter($1, $2::text)", key, text) == "ERR"
		commands, want = append(commands, fmt.Sprintf("SET %s %q", key, text)), append(want, "OK")
		if refused { // ours refuses the value when it is set, so there is nothing to increment
			commands, want = append(commands, "INCR "+key), append(want, "ERR")
			continue
		}
		ask("INCR "+key, "SELECT pgflurry.incr($1)", key)
	}
	for _, start := range integers {
		for _, n := range integers {
			key := start + "+" + n
			commands, want = append(commands, fmt.Sprintf("SET %s %s", key, start)), append(want, "OK")
			server.Do(t, conn, fmt.Sprintf("SELECT pgflurry.set_counter('%s', '%s')", key, start))
			ask(fmt.Sprintf("INCRBY %s %s", key, n), "SELECT pgflurry.incrby($1, $2::text::bigint)", key, n)
			ask("GET "+key, "SELECT pgflurry.get_counter($1)", key)
		}
	}
	ask("GET missing", "SELECT pgflurry.get_counter('missing')")
	ask("INCRBY zero 0", "SELECT pgflurry.incrby('zero', 0)")
	ask("GET zero", "SELECT pgflurry.get_counter('zero')")
	ask("INCR one", "SELECT pgflurry.incr('one')")
	ask("INCRBY least -9223372036854775808", "SELECT pgflurry.incrby('least', -9223372036854775808)")
	ask("INCRBY least -1", "SELECT pgflurry.incrby('least', -1)")
	ask("GET least", "SELECT pgflurry.get_counter('least')")

	got := send(commands)
	if len(got) != len(commands) {
		t.Fatalf("%d replies to %d commands:\n%s", len(got), len(commands), strings.Join(got, "\n"))
	}
	for i := range commands {
		if reply := got[i]; reply != want[i] && (want[i] != "ERR" || !strings.HasPrefix(reply, "ERR")) {
			t.Errorf("%s: Redis says %q, ours %q", commands[i], reply, want[i])
		}
	}
}
