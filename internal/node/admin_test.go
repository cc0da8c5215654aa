//go:build unix

package node_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/internal/config"
	"pgflurry/tests/support/server"
)

// asked returns the answer of the node's admin listener.
func asked(t *testing.T, r *running, path string) (status int, body string) {
	t.Helper()
	address := r.AdminAddr()
	transport := &http.Transport{DisableKeepAlives: true}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, address.Network(), address.String())
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

func TestOperatorsAreAnsweredUntilTheDrainHasEnded(t *testing.T) {
	server.NoLeak(t)
	for _, address := range []string{"127.0.0.1:0", filepath.Join(t.TempDir(), "admin.sock")} {
		s := settings(t, server.Migrated(t), "asked")
		s.AdminListen = address
		r := start(t, s)
		r.answers(t)
		busy := r.connect(t)
		server.Do(t, busy, "BEGIN")
		if status, body := asked(t, r, "/readyz"); status != http.StatusOK {
			t.Errorf("before the drain: %d %s", status, body)
		}
		r.stop()
		r.log.await(t, "msg=draining")
		if status, body := asked(t, r, "/readyz"); status != http.StatusServiceUnavailable ||
			!strings.Contains(body, "draining") {
			t.Errorf("in the drain: %d %s", status, body)
		}
		if status, body := asked(t, r, "/livez"); status != http.StatusOK {
			t.Errorf("in the drain: %d %s", status, body)
		}
		server.Do(t, busy, "COMMIT")
		if err := r.result(t); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if c, err := net.Dial(r.AdminAddr().Network(), r.AdminAddr().String()); err == nil {
			c.Close()
			t.Error("something listens still")
		}
	}
}

func TestOnlyAnAdminListenerThatOthersReachIsWarnedOf(t *testing.T) {
	server.NoLeak(t)
	const warning = "the admin listener is no loopback address"
	for address, warned := range map[string]bool{
		"127.0.0.1:0": false, "[::1]:0": false, filepath.Join(t.TempDir(), "admin.sock"): false,
		"0.0.0.0:0": true, ":0": true,
	} {
		s := settings(t, server.Migrated(t), "warned")
		s.AdminListen = address
		r := start(t, s)
		r.log.await(t, "msg=\"listening for operators\"")
		if err := r.end(t); err != nil {
			t.Error(err)
		}
		if text, _ := r.log.read(); strings.Contains(text, warning) != warned {
			t.Errorf("%s, warned of: %v:\n%s", address, !warned, text)
		}
	}
}

func TestAnAdminListenerThatCannotBeIsNamedByItsFlag(t *testing.T) {
	server.NoLeak(t)
	folder := t.TempDir()
	for address, says := range map[string]string{
		"127.0.0.1":       `--admin-listen is "127.0.0.1"; expected HOST:PORT`,
		"127.0.0.1:99999": `--admin-listen is "127.0.0.1:99999"; expected HOST:PORT`,
		folder:            "--admin-listen " + folder + " is a directory",
	} {
		s := config.Given{
			Settings: config.Settings{Name: "n"}, Listen: "127.0.0.1:0", Upstream: "127.0.0.1:1", LeaseDatabase: closed,
		}
		s.Window, s.AdminListen = 1e10, address
		if n, err := opened(s); n != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %q", address, err, says)
		}
	}
}
