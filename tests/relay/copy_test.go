package relay

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

func sum(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestALargeFileCopiedInAndOutIsUnchanged(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "CREATE TABLE item (n int, line text)")
	at, _ := through(t, direct)
	dir := t.TempDir()
	file := filepath.Join(dir, "in")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range 60000 {
		fmt.Fprintf(w, "%d\t%s\n", i, strings.Repeat(string(rune('a'+i%26)), rand.IntN(1000)))
	}
	fmt.Fprintf(w, "60000\t%s\n", strings.Repeat("x", 5<<20))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out := func(name string) string { return filepath.Join(dir, name) }
	run(t, "psql", at, "-X", "-v", "ON_ERROR_STOP=1", "-c", ours, "-c", `\copy item from `+file, "-c", ours,
		"-c", `\copy (SELECT * FROM item ORDER BY n) to `+out("proxied"), "-c", ours)
	run(t, "psql", direct, "-X", "-v", "ON_ERROR_STOP=1", "-c", `\copy (SELECT * FROM item ORDER BY n) to
		`+out("direct"))
	in := sum(t, file)
	proxied := sum(t, out("proxied"))
	straight := sum(t, out("direct"))
	if in != straight || in != proxied {
		t.Errorf("checksums: file %.8s, out of the table directly %.8s, through the proxy %.8s", in, straight, proxied)
	}
}
