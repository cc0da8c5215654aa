package node

import (
	"log/slog"
	"slices"
	"time"

	"pgflurry/internal/config"
	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
)

// applyTLS sets the TLS of a proxy.
func applyTLS(s config.Settings, p *proxy.Rules) {
	p.ClientTLS, p.UpstreamTLS = s.Keys.Client, s.Keys.Upstream
	p.RequireTLS, p.AskPassword = s.TLS.Client == config.ClientRequire, s.TLS.Auth == config.AuthPassword
}

// warnOfExpired logs which certificates have expired.
func warnOfExpired(s config.Settings, log *slog.Logger) {
	warn := func(file string, until time.Time) {
		if time.Now().After(until) {
			log.Warn("a certificate has expired", "file", file, "until", until,
				"hint", "Put a new one into the same file, then send SIGHUP.")
		}
	}
	if client := s.Keys.Client; client != nil {
		warn(s.TLS.ClientCert, client.Until())
	}
	if shown := s.Keys.Upstream.Certificate; shown != nil {
		warn(s.TLS.UpstreamCert, shown.Leaf.NotAfter) // X509KeyPair has parsed it
	}
}

// warnOfTLS logs what is allowed and may surprise.
func warnOfTLS(s config.Settings, log *slog.Logger) {
	t, upstream, mode := s.TLS, s.Hosts, s.Keys.Upstream.Mode
	if mode == pgtls.Disable {
		if i := slices.IndexFunc(upstream, config.Address.IsRemote); i >= 0 && t.Client != config.ClientDisable {
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
	if t.Client != config.ClientDisable && t.Auth == config.AuthRelay {
		log.Warn("TLS on both sides: clients that bind SCRAM to the certificate are refused, unless the proxy has "+
			"the server's own",
			"hint", "Give --client-auth password, or set channel_binding=disable in the clients, "+
				"or let them connect without TLS over loopback or a Unix socket.")
	}
	if t.Auth == config.AuthPassword && mode != pgtls.VerifyFull {
		log.Warn("whoever answers in place of the upstream can ask for the passwords of clients",
			"upstream_tls", t.Upstream, "hint", "Use --upstream-tls verify-full.")
	}
	if t.UpstreamCert != "" && t.ClientCA == "" {
		log.Warn("a server with the method cert lets in whoever reaches the proxy as the user "+
			"that --upstream-tls-cert names",
			"hint", "Let only those clients reach it: --client-tls-ca, loopback, or a Unix socket.")
	}
}

func isSocket(a config.Address) bool { return a.Network == "unix" }
