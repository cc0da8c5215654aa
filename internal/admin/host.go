package admin

import (
	"net"
	"net/http"
	"strings"
)

// forLoopback refuses requests to a loopback address in the name of another host. name is what the operator calls this
// one. A page in an operator's browser can make its own name lead to 127.0.0.1 (DNS rebinding). Then the browser lets
// it read the answers. Other listeners have names that are not known here. No browser reaches a Unix socket.
func forLoopback(own net.Addr, name string, next http.Handler) http.Handler {
	if tcp, is := own.(*net.TCPAddr); !is || !tcp.IP.IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host, name) {
			http.Error(w, "this listener is on loopback: expected localhost or an IP address as the Host header",
				http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal says whether no foreign page can have this Host header. It is an address, localhost, the listener's own name,
// or there is none at all.
func isLocal(host, own string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		strings.EqualFold(host, own) || net.ParseIP(host) != nil
}
