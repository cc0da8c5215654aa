package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"

	"pgflurry/connstring"
	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
)

// systemCAs stands for the operating system's CAs instead of a file, as in libpq.
const systemCAs = "system"

// TLS of clients, as --client-tls names it. TLS of the upstream is a pgtls.Mode.
const (
	clientDisable = "disable" // plain text
	clientAllow   = "allow"   // TLS for clients that ask for it
	clientRequire = "require" // TLS only
)

// Who logs in, as --client-auth names it.
const (
	authRelay    = "relay"    // PostgreSQL and the client log in past the proxy
	authPassword = "password" // the proxy asks for the password
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

// Files says whether there are any files, which Reload would read again.
func (t *TLS) Files() bool { return t.ClientCert+t.ClientCA+t.UpstreamCert+t.UpstreamCA != "" }

// complete fills in defaults, and reports all contradictions.
func (t *TLS) complete() error {
	if t.Client == "" {
		t.Client = clientDisable
		if t.ClientCert != "" {
			t.Client = clientAllow
		}
	}
	if t.Auth == "" {
		t.Auth = authRelay
	}
	if t.Upstream == "" {
		t.Upstream = pgtls.Disable.String()
	}
	return errors.Join(t.checkClient(), t.checkAuth(), t.checkUpstream())
}

// checkClient reports errors in the TLS of clients.
func (t *TLS) checkClient() error {
	var wrong []error
	if t.Client != clientDisable && t.Client != clientAllow && t.Client != clientRequire {
		return fmt.Errorf("--client-tls is %s; expected disable, allow or require", connstring.Shown(t.Client))
	}
	if (t.ClientCert == "") != (t.ClientKey == "") {
		wrong = append(wrong,
			errors.New("--client-tls-cert and --client-tls-key belong together; one of them is missing"))
	} else if t.Client != clientDisable && t.ClientCert == "" {
		wrong = append(wrong, fmt.Errorf("--client-tls %s needs --client-tls-cert and --client-tls-key", t.Client))
	}
	if t.ClientCA != "" && t.Client != clientRequire {
		wrong = append(wrong, fmt.Errorf("--client-tls-ca needs --client-tls require; "+
			"with %s a client without TLS would need no certificate", t.Client))
	}
	return errors.Join(wrong...)
}

// checkAuth reports errors in who logs in.
func (t *TLS) checkAuth() error {
	switch {
	case t.Auth != authRelay && t.Auth != authPassword:
		return fmt.Errorf("--client-auth is %s; expected relay or password", connstring.Shown(t.Auth))
	case t.Auth == authPassword && (t.Client == clientDisable || t.Client == clientAllow):
		return fmt.Errorf("--client-auth password needs --client-tls require; "+
			"with %s passwords could cross the network in clear text", t.Client)
	}
	return nil
}

// checkUpstream reports errors in the TLS of the upstream.
func (t *TLS) checkUpstream() error {
	mode, err := pgtls.ParseMode(t.Upstream)
	if err != nil {
		return fmt.Errorf("--upstream-tls: %w", err)
	}
	var wrong []error
	if (t.UpstreamCert == "") != (t.UpstreamKey == "") {
		wrong = append(wrong,
			errors.New("--upstream-tls-cert and --upstream-tls-key belong together; one of them is missing"))
	}
	switch {
	case mode == pgtls.Disable && t.UpstreamCA+t.UpstreamCert != "":
		wrong = append(wrong, errors.New("--upstream-tls-ca or --upstream-tls-cert is given, "+
			"but --upstream-tls is disable; expected verify-full or another mode"))
	case mode >= pgtls.VerifyCA && t.UpstreamCA == "":
		wrong = append(wrong, fmt.Errorf(`--upstream-tls %s needs --upstream-tls-ca: a file, or "system"`, t.Upstream))
	case t.UpstreamCA == systemCAs && mode != pgtls.VerifyFull:
		wrong = append(wrong, fmt.Errorf("--upstream-tls-ca system needs --upstream-tls verify-full, as in libpq: "+
			"with %s anybody's certificate of a public CA would do", t.Upstream))
	}
	return errors.Join(wrong...)
}

// check reports all files that cannot be used, even if other settings are wrong.
func (t TLS) check(log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var wrong []error
	if t.ClientCert != "" && t.ClientKey != "" {
		_, err := readCertificate("client-tls", t.ClientCert, t.ClientKey, log)
		wrong = append(wrong, err)
	}
	if t.UpstreamCert != "" && t.UpstreamKey != "" {
		_, err := readCertificate("upstream-tls", t.UpstreamCert, t.UpstreamKey, log)
		wrong = append(wrong, err)
	}
	_, clientCA := readCAs("client-tls-ca", t.ClientCA)
	_, upstreamCA := readCAs("upstream-tls-ca", t.UpstreamCA)
	return errors.Join(append(wrong, clientCA, upstreamCA)...)
}

// apply sets the TLS of a proxy. The settings must be complete.
func (t *TLS) apply(s *proxy.Settings) error {
	var err error
	s.ClientTLS, s.UpstreamTLS, err = t.load(s.Log)
	s.RequireTLS, s.AskPassword = t.Client == clientRequire, t.Auth == authPassword
	return err
}

// load reads all files.
func (t *TLS) load(log *slog.Logger) (client *pgtls.Client, upstream pgtls.Upstream, err error) {
	upstream.Mode, err = pgtls.ParseMode(t.Upstream)
	if err != nil {
		return nil, upstream, err
	}
	if t.Client != clientDisable {
		certificate, err := readCertificate("client-tls", t.ClientCert, t.ClientKey, log)
		if err != nil {
			return nil, upstream, err
		}
		cas, err := readCAs("client-tls-ca", t.ClientCA)
		if err != nil {
			return nil, upstream, err
		}
		if client, err = pgtls.NewClient(*certificate, cas); err != nil {
			return nil, upstream, err
		}
	}
	if t.UpstreamCert != "" {
		if upstream.Certificate, err = readCertificate("upstream-tls", t.UpstreamCert, t.UpstreamKey, log); err != nil {
			return nil, upstream, err
		}
	}
	upstream.CAs, err = readCAs("upstream-tls-ca", t.UpstreamCA)
	return client, upstream, err
}

// warn logs what is allowed and may surprise.
func (t *TLS) warn(log *slog.Logger, upstream []proxy.Host) {
	mode, _ := pgtls.ParseMode(t.Upstream) // complete has checked it
	if mode == pgtls.Disable {
		if i := slices.IndexFunc(upstream, isRemote); i >= 0 && t.Client != clientDisable {
			log.Warn("what clients send inside TLS goes on to the upstream in plain text",
				"upstream", upstream[i].Address, "hint", "Use --upstream-tls verify-full.")
		}
		return
	}
	if i := slices.IndexFunc(upstream, isSocket); i >= 0 {
		log.Warn("--upstream-tls has no effect on a Unix socket", "upstream", upstream[i].Address)
		if len(upstream) == 1 {
			return
		}
	}
	if t.Client != clientDisable && t.Auth == authRelay {
		log.Warn("TLS on both sides: clients that bind SCRAM to the certificate are refused, unless the proxy has "+
			"the server's own",
			"hint", "Give --client-auth password, or set channel_binding=disable in the clients, "+
				"or let them connect without TLS over loopback or a Unix socket.")
	}
	if t.Auth == authPassword && mode != pgtls.VerifyFull {
		log.Warn("whoever answers in place of the upstream can ask for the passwords of clients",
			"upstream_tls", t.Upstream, "hint", "Use --upstream-tls verify-full.")
	}
	if t.UpstreamCert != "" && t.ClientCA == "" {
		log.Warn("a server with the method cert lets in whoever reaches the proxy as the user "+
			"that --upstream-tls-cert names",
			"hint", "Let only those clients reach it: --client-tls-ca, loopback, or a Unix socket.")
	}
}

func isSocket(h proxy.Host) bool { return h.Network == "unix" }

func isRemote(h proxy.Host) bool {
	host, _, err := net.SplitHostPort(h.Address)
	return h.Network == "tcp" && err == nil && !isLoopback(host)
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
