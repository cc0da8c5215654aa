package admin

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestALoopbackListenerAnswersNoPageOfAnotherHost(t *testing.T) {
	answered := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	loopback, elsewhere := &net.TCPAddr{IP: net.IPv6loopback}, &net.TCPAddr{IP: net.IPv4zero}
	for _, c := range []struct {
		own      net.Addr
		host     string
		expected int
	}{
		{loopback, "127.0.0.1:6533", http.StatusNoContent},
		{loopback, "[::1]:6533", http.StatusNoContent},
		{loopback, "[::1]", http.StatusNoContent},
		{loopback, "localhost:6533", http.StatusNoContent},
		{loopback, "LocalHost.", http.StatusNoContent},
		{loopback, "proxy.localhost:6533", http.StatusNoContent},
		{loopback, "admin.test:6533", http.StatusNoContent}, // of --admin-listen
		{loopback, "", http.StatusNoContent},                // HTTP/1.0
		{loopback, "evil.example:6533", http.StatusMisdirectedRequest},
		{loopback, "evil.example", http.StatusMisdirectedRequest},
		{loopback, "localhost.evil.example:6533", http.StatusMisdirectedRequest},
		{loopback, "127.0.0.1.evil.example", http.StatusMisdirectedRequest},
		{loopback, "127.0.0.1@evil.example", http.StatusMisdirectedRequest},
		{elsewhere, "proxy.example:6533", http.StatusNoContent},
		{&net.UnixAddr{Name: "/run/admin", Net: "unix"}, "pgflurry", http.StatusNoContent},
	} {
		said, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = c.host
		forLoopback(c.own, "admin.test", answered).ServeHTTP(said, r)
		if said.Code != c.expected {
			t.Errorf("%q on %v gets %d; expected %d", c.host, c.own, said.Code, c.expected)
		}
	}
}
