package config

import (
	"crypto/tls"
	"errors"
	"fmt"

	"pgflurry/internal/connect"
	"pgflurry/proxy/pgtls"
)

// systemCAs stands for the operating system's CAs instead of a file, as in libpq.
const systemCAs = "system"

// TLS of clients, as --client-tls names it. TLS of the upstream is a pgtls.Mode.
const (
	ClientDisable = "disable" // plain text
	ClientAllow   = "allow"   // TLS for clients that ask for it
	ClientRequire = "require" // TLS only
)

// Who logs in, as --client-auth names it.
const (
	AuthRelay    = "relay"    // PostgreSQL and the client log in past the proxy
	AuthPassword = "password" // the proxy asks for the password
)

// TLS says how a node protects its two sides, and who logs in. Files are PEM. The zero value is plain text and relay.
type TLS struct {
	// Client is TLS of clients: disable, allow or require. Empty: allow with ClientCert, else disable.
	Client string
	// ClientCert and ClientKey are files: the proxy's certificate with its chain, and the key.
	ClientCert, ClientKey string
	// ClientCA is a file with CAs: each client must show a certificate of one of them. Empty: clients need none.
	ClientCA string
	// Auth says who logs in: relay (PostgreSQL and the client, past the proxy) or password (the proxy asks). Empty
	// means relay.
	Auth string
	// Upstream is TLS to the upstream, as libpq's sslmode without allow. Empty: disable.
	Upstream string
	// UpstreamCert and UpstreamKey are files for an upstream that asks for a certificate. Empty: the proxy shows none.
	UpstreamCert, UpstreamKey string
	// UpstreamCA is a file with the CAs that may sign the upstream's certificate, or "system".
	UpstreamCA string
}

// Files says whether there are any files, which a reload would read again.
func (t *TLS) Files() bool { return t.ClientCert+t.ClientCA+t.UpstreamCert+t.UpstreamCA != "" }

// complete fills in defaults, and reports all contradictions.
func (t *TLS) complete() error {
	if t.Client == "" {
		t.Client = ClientDisable
		if t.ClientCert != "" {
			t.Client = ClientAllow
		}
	}
	if t.Auth == "" {
		t.Auth = AuthRelay
	}
	if t.Upstream == "" {
		t.Upstream = pgtls.Disable.String()
	}
	return errors.Join(t.checkClient(), t.checkAuth(), t.checkUpstream())
}

// checkClient reports errors in the TLS of clients.
func (t *TLS) checkClient() error {
	var all []error
	if t.Client != ClientDisable && t.Client != ClientAllow && t.Client != ClientRequire {
		return wrong("client-tls", "--client-tls is %s; expected disable, allow or require", connect.Shown(t.Client))
	}
	if (t.ClientCert == "") != (t.ClientKey == "") {
		all = append(all, of([]string{"client-tls-cert", "client-tls-key"},
			errors.New("--client-tls-cert and --client-tls-key belong together; one of them is missing")))
	} else if t.Client != ClientDisable && t.ClientCert == "" {
		all = append(all, of([]string{"client-tls", "client-tls-cert", "client-tls-key"},
			fmt.Errorf("--client-tls %s needs --client-tls-cert and --client-tls-key", t.Client)))
	}
	if t.ClientCA != "" && t.Client != ClientRequire {
		all = append(all, of([]string{"client-tls-ca", "client-tls"}, fmt.Errorf("--client-tls-ca needs "+
			"--client-tls require; with %s a client without TLS would need no certificate", t.Client)))
	}
	return errors.Join(all...)
}

// checkAuth reports errors in who logs in.
func (t *TLS) checkAuth() error {
	switch {
	case t.Auth != AuthRelay && t.Auth != AuthPassword:
		return wrong("client-auth", "--client-auth is %s; expected relay or password", connect.Shown(t.Auth))
	case t.Auth == AuthPassword && (t.Client == ClientDisable || t.Client == ClientAllow):
		return of([]string{"client-auth", "client-tls"}, fmt.Errorf("--client-auth password needs "+
			"--client-tls require; with %s passwords could cross the network in clear text", t.Client))
	}
	return nil
}

// checkUpstream reports errors in the TLS of the upstream.
func (t *TLS) checkUpstream() error {
	mode, err := pgtls.ParseMode(t.Upstream)
	if err != nil {
		return wrong("upstream-tls", "--upstream-tls: %w", err)
	}
	var all []error
	if (t.UpstreamCert == "") != (t.UpstreamKey == "") {
		all = append(all, of([]string{"upstream-tls-cert", "upstream-tls-key"},
			errors.New("--upstream-tls-cert and --upstream-tls-key belong together; one of them is missing")))
	}
	switch {
	case mode == pgtls.Disable && t.UpstreamCA+t.UpstreamCert != "":
		all = append(all, of([]string{"upstream-tls-ca", "upstream-tls-cert", "upstream-tls"},
			errors.New("--upstream-tls-ca or --upstream-tls-cert is given, "+
				"but --upstream-tls is disable; expected verify-full or another mode")))
	case mode >= pgtls.VerifyCA && t.UpstreamCA == "":
		all = append(all, of([]string{"upstream-tls", "upstream-tls-ca"},
			fmt.Errorf(`--upstream-tls %s needs --upstream-tls-ca: a file, or "system"`, t.Upstream)))
	case t.UpstreamCA == systemCAs && mode != pgtls.VerifyFull:
		all = append(all, of([]string{"upstream-tls-ca", "upstream-tls"},
			fmt.Errorf("--upstream-tls-ca system needs --upstream-tls verify-full, as in libpq: "+
				"with %s anybody's certificate of a public CA would do", t.Upstream)))
	}
	return errors.Join(all...)
}

// Keys are what the files of TLS hold. The zero value is plain text.
type Keys struct {
	Client   *pgtls.Client // TLS of clients; nil: none
	Upstream pgtls.Upstream
}

// Read reads all files, and reports all that cannot be used. The modes of t must be complete.
func (t *TLS) Read() (Keys, error) {
	var k Keys
	var shown *tls.Certificate
	var noShown, noUpstream, noClient error
	if t.ClientCert != "" && t.ClientKey != "" {
		shown, noShown = readCertificate("client-tls", t.ClientCert, t.ClientKey)
	}
	if t.UpstreamCert != "" && t.UpstreamKey != "" {
		k.Upstream.Certificate, noUpstream = readCertificate("upstream-tls", t.UpstreamCert, t.UpstreamKey)
	}
	clientCAs, noClientCAs := readCAs("client-tls-ca", t.ClientCA)
	var noUpstreamCAs error
	k.Upstream.CAs, noUpstreamCAs = readCAs("upstream-tls-ca", t.UpstreamCA)
	if shown != nil && noClientCAs == nil && t.Client != ClientDisable {
		k.Client, noClient = pgtls.NewClient(*shown, clientCAs)
	}
	k.Upstream.Mode, _ = pgtls.ParseMode(t.Upstream) // checkUpstream reports the error
	return k, errors.Join(noShown, noUpstream, noClientCAs, noUpstreamCAs, noClient)
}
