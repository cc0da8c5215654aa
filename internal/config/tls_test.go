package config

import (
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/authority"
)

func TestFlagsOfTLSThatContradictEachOtherAreRefusedWithASentence(t *testing.T) {
	with := func(change func(*TLS)) TLS {
		s := TLS{
			Client: "require", ClientCert: "c", ClientKey: "k", ClientCA: "a", Auth: "password",
			Upstream: "verify-full", UpstreamCA: "u",
		}
		change(&s)
		return s
	}
	for says, s := range map[string]TLS{
		"": with(func(*TLS) {}),
		`--client-tls is "on"; expected disable, allow or require`:   with(func(s *TLS) { s.Client = "on" }),
		`--client-auth is "scram"; expected relay or password`:       with(func(s *TLS) { s.Auth = "scram" }),
		`--upstream-tls: "allow" is no mode of TLS`:                  with(func(s *TLS) { s.Upstream = "allow" }),
		"--client-tls-cert and --client-tls-key belong together":     with(func(s *TLS) { s.ClientKey = "" }),
		"--upstream-tls-cert and --upstream-tls-key belong together": with(func(s *TLS) { s.UpstreamCert = "c" }),
		"--client-tls require needs --client-tls-cert and --client-tls-key": with(func(s *TLS) {
			s.ClientCert, s.ClientKey = "", ""
		}),
		"--client-tls-ca needs --client-tls require; with allow": with(func(s *TLS) { s.Client = "" }),
		"--client-auth password needs --client-tls require; with allow": with(func(s *TLS) {
			s.Client, s.ClientCA = "allow", ""
		}),
		"but --upstream-tls is disable":                      with(func(s *TLS) { s.Upstream = "" }),
		"--upstream-tls verify-full needs --upstream-tls-ca": with(func(s *TLS) { s.UpstreamCA = "" }),
		"--upstream-tls-ca system needs --upstream-tls verify-full, as in libpq: with": with(func(s *TLS) {
			s.UpstreamCA, s.Upstream = "system", "require"
		}),
	} {
		err := s.complete()
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
		s := TLS{ClientCert: cert, ClientKey: cert}
		if err := s.complete(); err != nil || s.Client != want || s.Auth != "relay" || s.Upstream != "disable" {
			t.Errorf("with the certificate %q: %+v, %v", cert, s, err)
		}
	}
}

func TestAFileOfCAsIsReadWholeOrNotAtAll(t *testing.T) {
	first, second := authority.New(t, "first").PEM, authority.New(t, "second").PEM
	broken := strings.Replace(string(second), "MII", "AII", 1)
	for name, c := range map[string]struct {
		content []byte
		says    string // "": usable
	}{
		"two, and words": {slices.Concat([]byte("# ours\n"), first, []byte("# theirs\n"), second), ""},
		"half written": {
			slices.Concat(first, second[:len(second)/2]), "holds 2 certificates, of which 1 can be read; expected PEM",
		},
		"one that is no X.509": {
			slices.Concat(first, []byte(broken)), "holds a certificate that cannot be read (number 2)",
		},
		"nothing":                   {nil, "holds no certificate; expected PEM"},
		"the beginning of just one": {first[:len(first)/2], "holds no certificate; expected PEM"},
	} {
		_, err := readCAs("client-tls-ca", authority.Write(t, t.TempDir(), "cas.pem", c.content))
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; expected %q", name, err, c.says)
		}
	}
}
