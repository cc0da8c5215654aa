package pgtls

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"net"
	"strings"
)

// CertificateError means that upstream's certificate is not trusted.
type CertificateError struct{ Cause error }

func (e CertificateError) Error() string { return e.Cause.Error() }
func (e CertificateError) Unwrap() error { return e.Cause }

// verifyUpstream verifies upstream's certificate chain by libpq's rules.
func verifyUpstream(chain []*x509.Certificate, cas *x509.CertPool, host string, named bool) error {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: cas, Intermediates: between}); err != nil {
		return CertificateError{err}
	}
	if named && !namesHost(chain[0], host) {
		return CertificateError{fmt.Errorf("certificate of %s is not for host %q", names(chain[0]), host)}
	}
	return nil
}

// namesHost compares a certificate with a host as libpq does (verify-full in
// https://www.postgresql.org/docs/current/libpq-ssl.html). It looks at the alternative names. It looks at the common
// name only if no alternative name is of the host's kind: DNS name or address.
func namesHost(c *x509.Certificate, host string) bool {
	ip := net.ParseIP(host)
	for _, name := range c.DNSNames {
		if matchesName(name, host) {
			return true
		}
	}
	for _, address := range c.IPAddresses {
		if address.Equal(ip) {
			return true
		}
	}
	if ip != nil && len(c.IPAddresses) > 0 || ip == nil && len(c.DNSNames) > 0 {
		return false
	}
	common, _ := CommonName(c)
	return matchesName(common, host)
}

// CommonName is the common name of a certificate. A certificate with several has none that counts: PostgreSQL reads the
// first, and x509 the last.
func CommonName(c *x509.Certificate) (name string, several bool) {
	count := 0
	for _, part := range c.Subject.Names {
		if part.Type.Equal(commonName) {
			count++
		}
	}
	if count > 1 {
		return "", true
	}
	return c.Subject.CommonName, false
}

// commonName is the object identifier of a common name.
var commonName = asn1.ObjectIdentifier{2, 5, 4, 3}

// matchesName lets a * at the front stand for one label.
func matchesName(pattern, host string) bool {
	if strings.ContainsRune(pattern, 0) || pattern == "" {
		return false
	}
	if sameName(pattern, host) {
		return true
	}
	parent, wild := strings.CutPrefix(pattern, "*")
	label := len(host) - len(parent)
	return wild && len(parent) > 1 && parent[0] == '.' && label > 0 &&
		sameName(host[label:], parent) && !strings.Contains(host[:label], ".")
}

// sameName ignores the case of ASCII letters only: in Unicode the Kelvin sign would equal a k.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return true
}

// names says for the log whose certificate it is.
func names(c *x509.Certificate) string {
	all := append([]string{}, c.DNSNames...)
	for _, address := range c.IPAddresses {
		all = append(all, address.String())
	}
	if len(all) == 0 {
		return fmt.Sprintf("%q", c.Subject.CommonName)
	}
	return strings.Join(all, ", ")
}

// fold maps A to Z to lower case, and nothing else, as DNS does.
func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
