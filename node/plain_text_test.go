package node

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// at is a listener that has only an address.
type at struct {
	net.Listener
	address net.Addr
}

func (a at) Addr() net.Addr { return a.address }

func TestPlainClientsThatHostsslSeesAsTLSAreTold(t *testing.T) {
	const says = "hostssl in pg_hba.conf does not keep them out"
	elsewhere, loopback := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	for name, c := range map[string]struct {
		address net.Addr
		tls     TLS
		level   string // "": nothing is said
	}{
		"from elsewhere":      {elsewhere, TLS{Client: clientAllow, Upstream: "verify-full"}, "WARN"},
		"prefer, too":         {elsewhere, TLS{Client: clientDisable, Upstream: "prefer"}, "WARN"},
		"on loopback":         {loopback, TLS{Client: clientDisable, Upstream: "require"}, "INFO"},
		"by a socket":         {&net.UnixAddr{Net: "unix"}, TLS{Client: clientDisable, Upstream: "require"}, ""},
		"with TLS only":       {elsewhere, TLS{Client: clientRequire, Upstream: "require"}, ""},
		"plain on both sides": {elsewhere, TLS{Client: clientDisable, Upstream: "disable"}, ""},
	} {
		var log bytes.Buffer
		n := &Node{log: slog.New(slog.NewTextHandler(&log, nil)), listener: at{address: c.address}}
		n.warnOfPlainText(Settings{TLS: c.tls})
		said, told := log.String(), c.level != ""
		if strings.Contains(said, says) != told || told && !strings.Contains(said, "level="+c.level) {
			t.Errorf("%s: the log says %q; expected level %q", name, said, c.level)
		}
	}
}
