package proxy

import (
	"errors"
	"net"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// failure is an error of the proxy's own: a FATAL for the client, which ends the session. The cause goes to the log.
type failure struct {
	reason frontend.Reason
	sent   fault.Error
}

// SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html. An unreachable upstream is 57P03, not
// 08001: among all errors of a server, libpq tries the next host of host=a,b after 57P03 only.
var (
	failProtocol = failure{frontend.ClosedProtocol, fault.New(
		"08P01", "the client's message does not follow the protocol",
		"The proxy's log names the message. "+fault.CheckDriver,
	)}
	failDial = failure{frontend.ClosedUpstream, fault.New(
		"57P03", "could not connect to the PostgreSQL server behind the proxy",
		"Check that the server runs and that the proxy's --upstream names it. The proxy's log has the cause.",
	)}
	// After 57P03 libpq tries the next host. After 57P01 pools discard the connection and open another one.
	failNoPrimary = failure{frontend.ClosedUpstream, fault.New(
		"57P03", "none of the PostgreSQL servers behind the proxy says that it is the primary",
		"Connect again: a failover may be under way. The proxy's log has what each server said.",
	)}
	failDemoted = failure{frontend.ClosedDemoted, fault.New(
		"57P01", "terminating connection because its PostgreSQL server is not the primary any more",
		"Whether the last transaction was committed is unknown. Connect again: new connections go to the primary.",
	)}
	failMoved = failure{frontend.ClosedDemoted, fault.New(
		"57P03", "the PostgreSQL server behind the proxy stopped being the primary during the login",
		"Connect again: new connections go to the primary.",
	)}
	failLogin        = failure{frontend.ClosedTimeout, fault.LoginTime}
	failUpstreamLost = failure{frontend.ClosedUpstream, fault.New(
		"08006", "the connection to the PostgreSQL server behind the proxy was lost",
		"Whether the last transaction was committed is unknown. Connect again.",
	)}
	failDesync = failure{frontend.ClosedFault, fault.New(
		"08P01", "the proxy lost track of the connection's state", fault.ReportLog,
	)}
	failDraining     = failure{frontend.ClosedDrain, fault.Draining}
	failNotAccepting = failure{frontend.ClosedDrain, fault.NotAccepting}
	failTooMany      = failure{frontend.ClosedLimit, fault.New(
		"53300", "too many connections to the proxy",
		"Wait until others have left, or raise the proxy's --max-connections.",
	)}
	failTooManyLogins  = failure{frontend.ClosedLimit, fault.TooManyLogins}
	failUpstreamLogins = failure{frontend.ClosedLimit, fault.New(
		"53300", "too many logins are under way at the PostgreSQL server behind the proxy",
		"Connect again: those that have begun end first. "+
			"If the server could take more at once, raise the proxy's --max-upstream-logins.",
	)}
	failDescriptors = failure{frontend.ClosedLimit, fault.New(
		"53300", "too many connections to the proxy",
		"Wait until others have left, or give the proxy more descriptors: ulimit -n, or LimitNOFILE of systemd.",
	)}
	failInternal = failure{frontend.ClosedFault, fault.Internal}

	failEncryptionTwice = failure{frontend.ClosedProtocol, fault.New(
		"0A000", "unsupported frontend protocol: a request for encryption inside TLS, or sent twice",
		fault.CheckDriver,
	)}
	// These two have PostgreSQL's own words.
	failAfterSSL = failure{frontend.ClosedProtocol, bugOrAttack(fault.New(
		"08P01", "received unencrypted data after SSL request", "",
	))}
	failAfterGSSENC = failure{frontend.ClosedProtocol, bugOrAttack(fault.New(
		"08P01", "received unencrypted data after GSSAPI encryption request", "",
	))}

	failTLSRequired = failure{frontend.ClosedProtocol, fault.New(
		"28000", "the proxy accepts no sessions without TLS", "Set sslmode=require, or a stronger one, in the client.",
	)}
	failALPN = failure{frontend.ClosedProtocol, fault.New(
		"08P01", "TLS without SSLRequest needs the protocol name postgresql (ALPN)",
		"Use sslnegotiation=direct of libpq 17 or newer, or none.",
	)}
	failUpstreamTLS = failure{frontend.ClosedUpstream, fault.New(
		"57P03", "no TLS connection to the PostgreSQL server behind the proxy could be made",
		"Compare the proxy's --upstream-tls with the server's settings of ssl and pg_hba.conf. "+
			"The proxy's log has the cause.",
	)}
	failUpstreamCertificate = failure{frontend.ClosedUpstream, fault.New(
		"57P03", "the certificate of the PostgreSQL server behind the proxy is not trusted",
		"Compare the server's certificate with the proxy's --upstream-tls-ca and the host name in its --upstream. "+
			"The proxy's log has the cause.",
	)}
	failBinding = failure{frontend.ClosedProtocol, fault.New(
		"28000", "SCRAM with channel binding cannot pass a proxy that ends TLS",
		"Set channel_binding=disable in the client, "+
			"or give the proxy --client-auth password or the server's own certificate.",
	)}
	failCleartext = failure{frontend.ClosedUpstream, fault.New(
		"28000",
		"the PostgreSQL server behind the proxy asks for the password in clear text over an unencrypted network",
		"Give the proxy --upstream-tls, or let the server use scram-sha-256.",
	)}
	failProof = failure{frontend.ClosedUpstream, fault.New(
		"28000", "the password exchange with the PostgreSQL server behind the proxy failed",
		"What answers there may not be that server. The proxy's log has the cause.",
	)}
	failUnproven = failure{frontend.ClosedUpstream, fault.New(
		"28000", "the PostgreSQL server behind the proxy asked for no proof, and would take the proxy's own account",
		"Let pg_hba.conf ask for a password on its Unix socket, or connect to a Unix socket of the proxy "+
			"as the proxy's account. --unix-upstream-trusts-clients lets everybody in.",
	)}
)

func bugOrAttack(e fault.Error) fault.Error {
	e.Detail = "This could be either a client-software bug or evidence of an attempted man-in-the-middle attack."
	return e
}

var errInternal = clientError{failure: failInternal}

// clientError is a failure that the client reads, with a cause for the log alone.
type clientError struct {
	failure
	cause error
}

func (e clientError) Error() string {
	if e.cause == nil {
		return e.sent.Message
	}
	return e.sent.Message + ": " + e.cause.Error()
}

// Hint says what to do.
func (e clientError) Hint() string { return e.sent.Hint }

func (e clientError) Unwrap() error { return e.cause }

// fatalMessage is the ErrorResponse of a failure.
func fatalMessage(f failure) []byte { return wire.AppendError(nil, "FATAL", f.sent) }

// tellClient writes the FATAL of err if it has one. It ignores a failed write, because the connection is about to
// close.
func tellClient(conn net.Conn, err error) {
	var e clientError
	if errors.As(err, &e) {
		_, _ = conn.Write(fatalMessage(e.failure))
	}
}
