package node

import (
	"context"
	"log/slog"
	"net"

	"pgflurry/internal/config"
	"pgflurry/proxy/pgtls"
)

// warnOfPlainText logs what clients may send without TLS.
func warnOfPlainText(s config.Settings, own net.Addr, log *slog.Logger) {
	warnOfPlainLogins(s, own, log)
	_, tcp := own.(*net.TCPAddr)
	if !tcp || s.Keys.Upstream.Mode == pgtls.Disable || s.TLS.Client == config.ClientRequire {
		return
	}
	level := slog.LevelInfo // on loopback nobody listens in
	if config.Elsewhere(own) != "" {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "clients may connect without TLS, and hostssl in pg_hba.conf does not "+
		"keep them out: it sees the TLS of --upstream-tls", "address", own, "client_tls", s.TLS.Client,
		"hint", "Use --client-tls require, or listen on loopback or a Unix socket alone.")
}

// warnOfPlainLogins logs that logins to the ID database cross a network in plain text. PostgreSQL allows the same.
func warnOfPlainLogins(s config.Settings, own net.Addr, log *slog.Logger) {
	address := config.Elsewhere(own)
	if s.IDDatabase.Auth != config.IDAuthSCRAM || s.TLS.Client != config.ClientDisable || address == "" {
		return
	}
	log.Warn("logins to the ID database cross the network without TLS: who listens in learns no password, "+
		"but can try some out", "address", address,
		"hint", "Use --client-tls require with a certificate, or long random passwords.")
}
