package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
)

// systemCAs stands for the operating system's CAs in place of a file, as in libpq.
const systemCAs = "system"

// tlsSettings is how one proxy process protects its two sides and who logs in. The zero value is plain text and relaying.
type tlsSettings struct {
	client                          string // disable, allow or require; empty: allow with a certificate, else disable
	clientCert, clientKey, clientCA string // files
	auth                            string // relay or password; empty: relay
	upstream                        string // as libpq's sslmode, without allow; empty: disable
	upstreamCert, upstreamKey       string // files
	upstreamCA                      string // file, or systemCAs
}

func (t *tlsSettings) flags(f *pflag.FlagSet) {
	f.StringVar(&t.client, "client-tls", "", "TLS of clients: disable, allow or require (default allow with --client-tls-cert, else disable)")
	f.StringVar(&t.clientCert, "client-tls-cert", "", "file with the proxy's certificate and its chain, PEM; SIGHUP reads it again, as all files of TLS")
	f.StringVar(&t.clientKey, "client-tls-key", "", "file with the key of that certificate")
	f.StringVar(&t.clientCA, "client-tls-ca", "", "file with the CAs of which each client must show a certificate (with --client-tls require)")
	f.StringVar(&t.auth, "client-auth", "relay", "relay: PostgreSQL and the client log in past the proxy; password: the proxy asks for the password and logs in (with --client-tls require)")
	f.StringVar(&t.upstream, "upstream-tls", "disable", "TLS to the upstream, as libpq's sslmode: disable, prefer, require, verify-ca or verify-full")
	f.StringVar(&t.upstreamCA, "upstream-tls-ca", "", `file with the CAs that may sign the upstream's certificate, or "system"`)
	f.StringVar(&t.upstreamCert, "upstream-tls-cert", "", "file with the certificate shown to an upstream that asks for one, for every client the same")
	f.StringVar(&t.upstreamKey, "upstream-tls-key", "", "file with the key of that certificate")
}

// check completes the settings and refuses what contradicts itself.
func (t *tlsSettings) check() error {
	if t.client == "" {
		t.client = "disable"
		if t.clientCert != "" {
			t.client = "allow"
		}
	}
	if t.auth == "" {
		t.auth = "relay"
	}
	if t.upstream == "" {
		t.upstream = "disable"
	}
	mode, err := pgtls.ParseMode(t.upstream)
	switch {
	case err != nil:
		return fmt.Errorf("--upstream-tls: %w", err)
	case t.client != "disable" && t.client != "allow" && t.client != "require":
		return fmt.Errorf("--client-tls is %s; expected disable, allow or require", connstring.Shown(t.client))
	case t.auth != "relay" && t.auth != "password":
		return fmt.Errorf("--client-auth is %s; expected relay or password", connstring.Shown(t.auth))
	case (t.clientCert == "") != (t.clientKey == ""):
		return errors.New("--client-tls-cert and --client-tls-key belong together; one of them is missing")
	case (t.upstreamCert == "") != (t.upstreamKey == ""):
		return errors.New("--upstream-tls-cert and --upstream-tls-key belong together; one of them is missing")
	case t.client != "disable" && t.clientCert == "":
		return fmt.Errorf("--client-tls %s needs --client-tls-cert and --client-tls-key", t.client)
	case t.clientCA != "" && t.client != "require":
		return fmt.Errorf("--client-tls-ca needs --client-tls require; with %s a client without TLS would need no certificate", t.client)
	case t.auth == "password" && t.client != "require":
		return fmt.Errorf("--client-auth password needs --client-tls require; with %s passwords could cross the network in clear text", t.client)
	case mode == pgtls.Disable && t.upstreamCA+t.upstreamCert != "":
		return errors.New("--upstream-tls-ca or --upstream-tls-cert is given, but --upstream-tls is disable; expected verify-full or another mode")
	case mode >= pgtls.VerifyCA && t.upstreamCA == "":
		return fmt.Errorf(`--upstream-tls %s needs --upstream-tls-ca: a file, or "system"`, t.upstream)
	case t.upstreamCA == systemCAs && mode != pgtls.VerifyFull:
		return fmt.Errorf("--upstream-tls-ca system needs --upstream-tls verify-full, as in libpq: with %s anybody's certificate of a public CA would do", t.upstream)
	}
	return nil
}

// complete puts what the flags say, once checked, into the settings of a proxy.
func (t *tlsSettings) complete(s *proxy.Settings) error {
	var err error
	s.ClientTLS, s.UpstreamTLS, err = t.load(s.Log)
	s.RequireTLS, s.AskPassword = t.client == "require", t.auth == "password"
	if err == nil {
		t.warn(s.Log, s.Network, s.Address)
	}
	return err
}

// reload reads the files again. Sessions that are open stay as they are; where a file cannot be used, so does everything.
func (t *tlsSettings) reload(p *proxy.Proxy, log *slog.Logger) {
	client, upstream, err := t.load(log)
	if err == nil {
		err = p.SetUpstreamTLS(upstream)
	}
	if err != nil {
		log.Error("TLS files were not reloaded: those read before stay in use", "cause", err)
		return
	}
	p.SetClientTLS(client)
	log.Info("TLS files reloaded")
}

// load reads all files.
func (t *tlsSettings) load(log *slog.Logger) (client *pgtls.Client, upstream pgtls.Upstream, err error) {
	upstream.Mode, err = pgtls.ParseMode(t.upstream)
	if err != nil {
		return nil, upstream, err
	}
	if t.client != "disable" {
		certificate, err := readCertificate("client-tls", t.clientCert, t.clientKey, log)
		if err != nil {
			return nil, upstream, err
		}
		cas, err := readCAs("client-tls-ca", t.clientCA)
		if err != nil {
			return nil, upstream, err
		}
		if client, err = pgtls.NewClient(*certificate, cas); err != nil {
			return nil, upstream, err
		}
	}
	if t.upstreamCert != "" {
		if upstream.Certificate, err = readCertificate("upstream-tls", t.upstreamCert, t.upstreamKey, log); err != nil {
			return nil, upstream, err
		}
	}
	upstream.CAs, err = readCAs("upstream-tls-ca", t.upstreamCA)
	return client, upstream, err
}

// readCertificate reads a certificate with its key. prefix is that of their flags.
func readCertificate(prefix, certFile, keyFile string, log *slog.Logger) (*tls.Certificate, error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("--%s-cert: %w", prefix, err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("--%s-key: %w", prefix, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--%s-cert %s and --%s-key %s: %w; expected a certificate and its key without a passphrase, both PEM", prefix, certFile, prefix, keyFile, err)
	}
	if until := pair.Leaf.NotAfter; time.Now().After(until) {
		log.Warn("a certificate has expired", "file", certFile, "until", until)
	}
	return &pair, nil
}

// readCAs reads a file of CAs; none where no file is named.
func readCAs(flag, file string) (*x509.CertPool, error) {
	switch file {
	case "":
		return nil, nil
	case systemCAs:
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("--%s system: %w", flag, err)
		}
		return pool, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	pool, err := parseCAs(content)
	if err != nil {
		return nil, fmt.Errorf("--%s %s %w; expected PEM", flag, file, err)
	}
	return pool, nil
}

// parseCAs reads every certificate of a file. One that cannot be read is an error: x509 would leave it out, and whom its CA has
// signed with it, as where a reload finds a file half written.
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

// warn logs what is allowed and may surprise.
func (t *tlsSettings) warn(log *slog.Logger, network, address string) {
	if t.upstream == "disable" {
		if host, _, err := net.SplitHostPort(address); t.client != "disable" && network == "tcp" && err == nil && !isLoopback(host) {
			log.Warn("what clients send inside TLS goes on to the upstream in plain text", "upstream", address, "hint", "Use --upstream-tls verify-full.")
		}
		return
	}
	if network == "unix" {
		log.Warn("--upstream-tls has no effect on a Unix socket", "upstream", address)
		return
	}
	if t.client != "disable" && t.auth == "relay" {
		log.Warn("TLS on both sides: clients that bind SCRAM to the certificate are refused, unless the proxy has the server's own",
			"hint", "Give --client-auth password, or set channel_binding=disable in the clients, or let them connect without TLS over loopback or a Unix socket.")
	}
	if t.auth == "password" && t.upstream != "verify-full" {
		log.Warn("whoever answers in place of the upstream can ask for the passwords of clients", "upstream-tls", t.upstream, "hint", "Use --upstream-tls verify-full.")
	}
	if t.upstreamCert != "" && t.clientCA == "" {
		log.Warn("a server with the method cert lets in whoever reaches the proxy as the user that --upstream-tls-cert names",
			"hint", "Let only those clients reach it: --client-tls-ca, loopback, or a Unix socket.")
	}
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
