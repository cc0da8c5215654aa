package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"pgflurry/internal/connect"
)

// largestPEM limits a file of certificates or keys, in bytes. All CAs of an operating system take 300 kB.
const largestPEM = 4 << 20

// readCertificate reads a certificate with its key. prefix is that of their flags.
func readCertificate(prefix, certFile, keyFile string) (*tls.Certificate, error) {
	flags := []string{prefix + "-cert", prefix + "-key"}
	cert, err := connect.ReadFile(certFile, largestPEM)
	if err != nil {
		return nil, wrong(flags[0], "--%s: %w", flags[0], err)
	}
	key, err := connect.ReadFile(keyFile, largestPEM)
	if err != nil {
		return nil, wrong(flags[1], "--%s: %w", flags[1], err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, of(flags, fmt.Errorf("--%s-cert %s and --%s-key %s: %w; "+
			"expected a certificate and its key without a passphrase, both PEM",
			prefix, certFile, prefix, keyFile, err))
	}
	return &pair, nil
}

// readCAs reads a file of CAs; none if no file is named.
func readCAs(flag, file string) (*x509.CertPool, error) {
	switch file {
	case "":
		return nil, nil
	case systemCAs:
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, wrong(flag, "--%s system: %w", flag, err)
		}
		return pool, nil
	}
	content, err := connect.ReadFile(file, largestPEM)
	if err != nil {
		return nil, wrong(flag, "--%s: %w", flag, err)
	}
	pool, err := parseCAs(content)
	if err != nil {
		return nil, wrong(flag, "--%s %s %w; expected PEM", flag, file, err)
	}
	return pool, nil
}

// parseCAs reads every certificate of a file, and fails if one is unreadable. x509 would skip it. Then clients of that
// CA would be locked out, for example when a reload reads a file that is half written.
func parseCAs(content []byte) (*x509.CertPool, error) {
	pool, count := x509.NewCertPool(), 0
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("holds a certificate that cannot be read (number %d): %w", count+1, err)
		}
		pool.AddCert(certificate)
		count++
	}
	switch begun := bytes.Count(content, []byte("-----BEGIN CERTIFICATE-----")); {
	case count == 0:
		return nil, errors.New("holds no certificate")
	case begun > count:
		return nil, fmt.Errorf("holds %d certificates, of which %d can be read", begun, count)
	}
	return pool, nil
}
