package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

// health runs "pgflurry health" with these arguments.
func health(t *testing.T, args ...string) error {
	t.Helper()
	root := newRoot()
	root.SetArgs(append([]string{"health"}, args...))
	return root.ExecuteContext(t.Context())
}

// operators starts a server that answers as the test says, and returns its address.
func operators(t *testing.T, network, address string, answer http.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

func TestHealthReadyAndIDsSayWhatTheirProbesSay(t *testing.T) {
	answers := map[string]string{"/readyz": `{"ok":true}`, "/readyz/ids": `{"ok":false,"why":"the grant has ended"}`}
	answer := func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(answers[r.URL.Path], "false") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}
	for _, address := range []string{
		operators(t, "tcp", "127.0.0.1:0", answer),
		operators(t, "unix", filepath.Join(t.TempDir(), "admin.sock"), answer),
	} {
		if err := health(t, "--ready", "--admin-listen", address); err != nil {
			t.Errorf("--ready: %v", err)
		}
		err := health(t, "--ids", "--admin-listen", address)
		if err == nil || err.Error() != "the grant has ended" || fault.KindOf(err) != fault.Failed {
			t.Errorf("--ids: %v (%d)", err, fault.KindOf(err))
		}
	}
	if err := health(t, "--ids", "--ready"); err == nil ||
		!strings.Contains(err.Error(), "--ids and --ready exclude each other") {
		t.Errorf("both: %v", err)
	}
}

func TestHealthReadyTellsAWrongAddressFromAProxyThatIsNotReady(t *testing.T) {
	other := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"up"}`)) // the answer of another program
	}
	for says, c := range map[string]struct {
		address string
		kind    fault.Kind
	}{
		"is --admin-listen right?":      {operators(t, "tcp", "127.0.0.1:0", http.NotFound), fault.Failed},
		"which no admin listener does":  {operators(t, "tcp", "127.0.0.1:0", other), fault.Failed},
		`is "nowhere:6533:1"; expected`: {"nowhere:6533:1", fault.Usage},
	} {
		err := health(t, "--ready", "--admin-listen", c.address)
		if err == nil || !strings.Contains(err.Error(), says) || fault.KindOf(err) != c.kind {
			t.Errorf("%v (%d), expected %q (%d)", err, fault.KindOf(err), says, c.kind)
		}
	}
}

func TestHealthReadySaysThatTheListenerIsOffByDefault(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	err = health(t, "--ids", "--admin-listen", address)
	if err == nil || !strings.HasPrefix(err.Error(), "the admin listener does not answer at "+address) ||
		strings.Contains(err.Error(), "http://") || !strings.Contains(fault.HintOf(err), "By default it has none.") ||
		fault.KindOf(err) != fault.Unreachable {
		t.Errorf("%v (hint %q, kind %d)", err, fault.HintOf(err), fault.KindOf(err))
	}
}
