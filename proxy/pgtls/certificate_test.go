package pgtls

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"strings"
	"testing"

	"pgflurry/tests/support/authority"
)

func TestACertificateNamesAHostAsLibpqReadsIt(t *testing.T) {
	for _, c := range []struct {
		names  string // alternative names; "" for none
		common string
		host   string
		want   bool
	}{
		{"db.example.com", "", "db.example.com", true},
		{"db.example.com", "", "DB.Example.COM", true},
		{"db.example.com", "", "example.com", false},
		{"*.example.com", "", "db.example.com", true},
		{"*.example.com", "", "a.db.example.com", false},
		{"*.example.com", "", "example.com", false},
		{"*.example.com", "", ".example.com", false},
		{"d*.example.com", "", "db.example.com", false},
		{"*", "", "db", false},
		{"*.", "", "db.", false},
		{"db.example.com\x00.attacker.org", "", "db.example.com", false},
		{"d\u212a.example.com", "", "dk.example.com", false}, // the Kelvin sign, a k to Unicode
		{"", "db.example.com", "db.example.com", true},
		{"", "*.example.com", "db.example.com", true},
		{"other.example.com", "db.example.com", "db.example.com", false},
		{"10.0.0.1", "db.example.com", "db.example.com", true}, // no alternative name is of the host's kind
		{"10.0.0.1", "", "10.0.0.1", true},
		{"10.0.0.2", "10.0.0.1", "10.0.0.1", false},
		{"db.example.com", "10.0.0.1", "10.0.0.1", true},
		{"::1", "", "0:0:0:0:0:0:0:1", true},
		{"", "", "db", false},
		{"", "", "", false},
	} {
		certificate := &x509.Certificate{Subject: pkix.Name{CommonName: c.common}}
		if ip := net.ParseIP(c.names); ip != nil {
			certificate.IPAddresses = []net.IP{ip}
		} else if c.names != "" {
			certificate.DNSNames = strings.Split(c.names, ",")
		}
		if got := namesHost(certificate, c.host); got != c.want {
			t.Errorf("a certificate of %q (%q) for host %q: %v", c.names, c.common, c.host, got)
		}
	}
}

func TestACertificateWithSeveralCommonNamesIsForNoHost(t *testing.T) {
	ca := authority.New(t, "CA")
	for _, more := range [][]string{nil, {"other"}} {
		pair := ca.Issue(t, authority.Leaf{CommonName: "db", More: more})
		if got := namesHost(pair.TLS.Leaf, "db") || namesHost(pair.TLS.Leaf, "other"); got != (more == nil) {
			t.Errorf("a certificate of db and %q is for one of these hosts: %v", more, got)
		}
	}
}

func FuzzANameThatX509AcceptsIsAccepted(f *testing.F) {
	f.Add("*.example.com", "db.example.com")
	f.Add("db", "db")
	f.Add("*.com", ".com")
	f.Fuzz(func(t *testing.T, pattern, host string) {
		if net.ParseIP(host) != nil || strings.HasSuffix(host, ".") || strings.HasPrefix(host, "[") ||
			strings.Contains(pattern, "\x00") {
			return // x509 reads these in its own way; libpq accepts no name with a zero byte
		}
		certificate := &x509.Certificate{DNSNames: []string{pattern}}
		theirs, ours := certificate.VerifyHostname(host) == nil, namesHost(certificate, host)
		if theirs && !ours {
			t.Errorf("a certificate of %q for host %q: x509 accepts it", pattern, host)
		}
		if ours && !strings.EqualFold(pattern, host) &&
			(!strings.HasPrefix(pattern, "*.") || strings.Count(pattern, ".") != strings.Count(host, ".")) {
			t.Errorf("a certificate of %q for host %q is accepted", pattern, host)
		}
	})
}
