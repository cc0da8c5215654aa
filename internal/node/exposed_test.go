package node

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/internal/config"
)

func TestSecretsThatEveryAccountMayReadAreLogged(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var log bytes.Buffer
	warnOfExposed(config.Settings{
		TLS:         config.TLS{ClientKey: file("client", 0o644), UpstreamKey: file("upstream", 0o640)},
		IDDatabase:  config.IDDatabase{AuthFile: file("accounts", 0o666)},
		SecretFiles: []string{file("lease", 0o604)},
	}, slog.New(slog.NewTextHandler(&log, nil)))
	for name, logged := range map[string]bool{"client": true, "upstream": false, "accounts": true, "lease": true} {
		if strings.Contains(log.String(), "file="+filepath.Join(dir, name)+" ") != logged {
			t.Errorf("%s is logged: %v; expected %v:\n%s", name, !logged, logged, log.String())
		}
	}
	if strings.Count(log.String(), "level=WARN") != 3 {
		t.Errorf("expected a line for each exposed file:\n%s", log.String())
	}
}
