package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/authority"
)

func TestFlagsOfTLSThatContradictEachOtherAreRefusedWithASentence(t *testing.T) {
	with := func(change func(*tlsSettings)) tlsSettings {
		s := tlsSettings{client: "require", clientCert: "c", clientKey: "k", clientCA: "a", auth: "password", upstream: "verify-full", upstreamCA: "u"}
		change(&s)
		return s
	}
	for says, s := range map[string]tlsSettings{
		"": with(func(*tlsSettings) {}),
		`--client-tls is "on"; expected disable, allow or require`:                     with(func(s *tlsSettings) { s.client = "on" }),
		`--client-auth is "scram"; expected relay or password`:                         with(func(s *tlsSettings) { s.auth = "scram" }),
		`--upstream-tls: "allow" is no mode of TLS`:                                    with(func(s *tlsSettings) { s.upstream = "allow" }),
		"--client-tls-cert and --client-tls-key belong together":                       with(func(s *tlsSettings) { s.clientKey = "" }),
		"--upstream-tls-cert and --upstream-tls-key belong together":                   with(func(s *tlsSettings) { s.upstreamCert = "c" }),
		"--client-tls require needs --client-tls-cert and --client-tls-key":            with(func(s *tlsSettings) { s.clientCert, s.clientKey = "", "" }),
		"--client-tls-ca needs --client-tls require; with allow":                       with(func(s *tlsSettings) { s.client = "" }),
		"--client-auth password needs --client-tls require; with allow":                with(func(s *tlsSettings) { s.client, s.clientCA = "allow", "" }),
		"but --upstream-tls is disable":                                                with(func(s *tlsSettings) { s.upstream = "" }),
		"--upstream-tls verify-full needs --upstream-tls-ca":                           with(func(s *tlsSettings) { s.upstreamCA = "" }),
		"--upstream-tls-ca system needs --upstream-tls verify-full, as in libpq: with": with(func(s *tlsSettings) { s.upstreamCA, s.upstream = "system", "require" }),
	} {
		err := s.check()
		if says == "" {
			if err != nil {
				t.Errorf("settings that make sense are refused: %v", err)
			}
		} else if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("said %v; expected %q", err, says)
		}
	}
}

func TestWithoutACertificateClientsAreRefusedTLSAndWithOneTheyMayHaveIt(t *testing.T) {
	for cert, want := range map[string]string{"": "disable", "file": "allow"} {
		s := tlsSettings{clientCert: cert, clientKey: cert}
		if err := s.check(); err != nil || s.client != want || s.auth != "relay" || s.upstream != "disable" {
			t.Errorf("with the certificate %q: %+v, %v", cert, s, err)
		}
	}
}

func TestServeSaysWhatTLSDoesNotProtect(t *testing.T) {
	for name, c := range map[string]struct {
		settings         tlsSettings
		network, address string
		says             string // "": nothing
	}{
		"plain text":                   {tlsSettings{}, "tcp", "db:5432", ""},
		"a sidecar":                    {tlsSettings{upstream: "verify-full", upstreamCA: "system"}, "tcp", "db:5432", ""},
		"beside the server":            {tlsSettings{clientCert: "c", clientKey: "k"}, "tcp", "127.0.0.1:5432", ""},
		"a proxy that asks":            {tlsSettings{client: "require", clientCert: "c", clientKey: "k", auth: "password", upstream: "verify-full", upstreamCA: "u"}, "tcp", "db:5432", ""},
		"TLS on a Unix socket":         {tlsSettings{upstream: "require"}, "unix", "/run/s", "no effect on a Unix socket"},
		"plain text behind TLS":        {tlsSettings{clientCert: "c", clientKey: "k"}, "tcp", "db:5432", "goes on to the upstream in plain text"},
		"TLS on both sides":            {tlsSettings{clientCert: "c", clientKey: "k", upstream: "require"}, "tcp", "db:5432", "bind SCRAM"},
		"passwords for anybody":        {tlsSettings{client: "require", clientCert: "c", clientKey: "k", auth: "password", upstream: "require"}, "tcp", "db:5432", "can ask for the passwords"},
		"one certificate for everyone": {tlsSettings{upstream: "require", upstreamCert: "c", upstreamKey: "k"}, "tcp", "db:5432", "lets in whoever reaches the proxy"},
	} {
		var log strings.Builder
		if err := c.settings.check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.settings.warn(slog.New(slog.NewTextHandler(&log, nil)), c.network, c.address)
		if said := log.String(); (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: the log says %q; expected %q", name, said, c.says)
		}
	}
}

func TestAFileOfCAsIsReadWholeOrNotAtAll(t *testing.T) {
	first, second := authority.New(t, "first").PEM, authority.New(t, "second").PEM
	broken := strings.Replace(string(second), "MII", "AII", 1)
	for name, c := range map[string]struct {
		content []byte
		says    string // "": it can be used
	}{
		"two, and words":            {slices.Concat([]byte("# ours\n"), first, []byte("# theirs\n"), second), ""},
		"half written":              {slices.Concat(first, second[:len(second)/2]), "holds 2 certificates, of which 1 can be read; expected PEM"},
		"one that is no X.509":      {slices.Concat(first, []byte(broken)), "holds a certificate that cannot be read (number 2)"},
		"nothing":                   {nil, "holds no certificate; expected PEM"},
		"the beginning of just one": {first[:len(first)/2], "holds no certificate; expected PEM"},
	} {
		_, err := readCAs("client-tls-ca", authority.Write(t, t.TempDir(), "cas.pem", c.content))
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; expected %q", name, err, c.says)
		}
	}
}
