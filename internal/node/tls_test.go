package node

import (
	"cmp"
	"log/slog"
	"strings"
	"testing"

	"pgflurry/internal/config"
	"pgflurry/proxy/pgtls"
)

func TestServeSaysWhatTLSDoesNotProtect(t *testing.T) {
	for name, c := range map[string]struct {
		settings         config.TLS
		network, address string
		says             string // "": no error
	}{
		"plain text":        {config.TLS{}, "tcp", "db:5432", ""},
		"a sidecar":         {config.TLS{Upstream: "verify-full", UpstreamCA: "system"}, "tcp", "db:5432", ""},
		"beside the server": {config.TLS{ClientCert: "c", ClientKey: "k"}, "tcp", "127.0.0.1:5432", ""},
		"a proxy that asks": {
			config.TLS{
				Client: "require", ClientCert: "c", ClientKey: "k", Auth: "password",
				Upstream: "verify-full", UpstreamCA: "u",
			},
			"tcp", "db:5432", "",
		},
		"TLS on a Unix socket": {config.TLS{Upstream: "require"}, "unix", "/run/s", "no effect on a Unix socket"},
		"plain text behind TLS": {
			config.TLS{ClientCert: "c", ClientKey: "k"}, "tcp", "db:5432", "goes on to the upstream in plain text",
		},
		"TLS on both sides": {
			config.TLS{ClientCert: "c", ClientKey: "k", Upstream: "require"}, "tcp", "db:5432", "bind SCRAM",
		},
		"passwords for anybody": {
			config.TLS{Client: "require", ClientCert: "c", ClientKey: "k", Auth: "password", Upstream: "require"},
			"tcp",
			"db:5432", "can ask for the passwords",
		},
		"one certificate for everyone": {
			config.TLS{Upstream: "require", UpstreamCert: "c", UpstreamKey: "k"},
			"tcp", "db:5432",
			"lets in whoever reaches the proxy",
		},
	} {
		var log strings.Builder
		s := config.Settings{TLS: c.settings, Hosts: []config.Address{{Network: c.network, Address: c.address}}}
		if s.TLS.Client == "" {
			s.TLS.Client = config.ClientDisable
			if s.TLS.ClientCert != "" {
				s.TLS.Client = config.ClientAllow
			}
		}
		s.TLS.Auth = cmp.Or(s.TLS.Auth, config.AuthRelay)
		mode, err := pgtls.ParseMode(cmp.Or(s.TLS.Upstream, "disable"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.Keys.Upstream.Mode = mode
		warnOfTLS(s, slog.New(slog.NewTextHandler(&log, nil)))
		if said := log.String(); (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: the log says %q; expected %q", name, said, c.says)
		}
	}
}
