package database

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// A dump has the rows of the names, and where their sequence stood. Restored over its own database, the rows stay as
// they are, because they are there already. The sequence goes back.
func TestNoReplaceIDComesAgainAfterItsDataWasRestoredIntoItsDatabase(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	var mu sync.Mutex
	var all []string
	draw := func(ctx context.Context, conn *pgx.Conn, name string) error {
		var number int64
		if err := conn.QueryRow(ctx, "SELECT pgflurry.next_replace_id($1)", name).Scan(&number); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, strconv.FormatInt(number, 10))
		return nil
	}
	tool := func(name string, args ...string) string {
		out, _ := exec.CommandContext(server.Within(t), server.Tool(t, name), args...).CombinedOutput()
		return string(out)
	}
	names := []string{"a", "b", "a", "c"}
	for _, name := range names {
		if err := draw(server.Within(t), conn, name); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "dump")
	if out := tool("pg_dump", "--format=custom", "--file", file, url); out != "" {
		t.Fatal(out)
	}
	for i := range 200 {
		if err := draw(server.Within(t), conn, names[i%len(names)]); err != nil {
			t.Fatal(err)
		}
	}
	out := tool("pg_restore", "--data-only", "--dbname", url, file)
	if !strings.Contains(out, `COPY failed for table "replace_sequence"`) {
		t.Fatalf("the rows of the names were not there already: %s", out)
	}
	const stands = "SELECT last_value FROM pgflurry.replace_sequence_seq_id_seq"
	if at := server.Value[int64](t, conn, stands); at != 4 {
		t.Fatalf("the sequence stands at %d, so this proves nothing", at)
	}
	at(t, 4, func(ctx context.Context, conn *pgx.Conn) error {
		for i := range 40 {
			if err := draw(ctx, conn, append(names, "new", "newer")[i%6]); err != nil {
				return err
			}
		}
		return nil
	}, url)
	if again := twice(all); len(again) > 0 {
		t.Errorf("of %d numbers these came twice: %v", len(all), again)
	}
}
