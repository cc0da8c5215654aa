package node

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"pgflurry/internal/config"
	"pgflurry/proxy/pgtls"
)

func TestPlainClientsThatHostsslSeesAsTLSAreLogged(t *testing.T) {
	const says = "hostssl in pg_hba.conf does not keep them out"
	elsewhere, loopback := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	for name, c := range map[string]struct {
		address net.Addr
		client  string
		to      pgtls.Mode
		level   string // "": nothing is said
	}{
		"from elsewhere":      {elsewhere, config.ClientAllow, pgtls.VerifyFull, "WARN"},
		"prefer, too":         {elsewhere, config.ClientDisable, pgtls.Prefer, "WARN"},
		"on loopback":         {loopback, config.ClientDisable, pgtls.Require, "INFO"},
		"by a socket":         {&net.UnixAddr{Net: "unix"}, config.ClientDisable, pgtls.Require, ""},
		"with TLS only":       {elsewhere, config.ClientRequire, pgtls.Require, ""},
		"plain on both sides": {elsewhere, config.ClientDisable, pgtls.Disable, ""},
	} {
		var log bytes.Buffer
		warnOfPlainText(config.Settings{
			TLS: config.TLS{Client: c.client}, Keys: config.Keys{Upstream: pgtls.Upstream{Mode: c.to}},
		}, c.address, slog.New(slog.NewTextHandler(&log, nil)))
		said, warned := log.String(), c.level != ""
		if strings.Contains(said, says) != warned || warned && !strings.Contains(said, "level="+c.level) {
			t.Errorf("%s: the log says %q; expected level %q", name, said, c.level)
		}
	}
}
