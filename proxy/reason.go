package proxy

// reason is why a session ended. The first one that is noticed is it: what follows from it is no reason.
type reason int32

const (
	stillOpen      reason = iota
	closedClient          // the client left, or its connection was lost
	closedRefused         // PostgreSQL refused the login
	closedUpstream        // upstream ended it with a FATAL of its own, or its connection was lost or refused
	closedDrain           // the proxy drains
	closedLimit           // it had not logged in and gave way to another one
	closedTimeout         // the login timeout
	closedProtocol        // the client broke the protocol, or asked for what the proxy does not allow
	closedFault           // a fault of the proxy
	closedDemoted         // its host is not the primary any more
	reasons
)

var reasonLabels = [reasons]string{
	"", "client", "refused", "upstream", "drain", "limit", "timeout", "protocol", "fault",
	"demoted",
}

// reason is that of a session which ends for the failure; 0 for none of the table's.
func (f failure) reason() reason {
	switch f {
	case failProtocol, failTLSRequired, failALPN, failBinding, failEncryptionTwice, failAfterSSL, failAfterGSSENC:
		return closedProtocol
	case failDial, failUpstreamLost, failUpstreamTLS, failUpstreamCertificate, failCleartext, failProof,
		failNoPrimary:
		return closedUpstream
	case failDraining, failNotAccepting:
		return closedDrain
	case failTooMany:
		return closedLimit
	case failLogin:
		return closedTimeout
	case failDemoted, failMoved:
		return closedDemoted
	case failDesync, failInternal:
		return closedFault
	}
	return stillOpen
}

// because notes why the session ends, unless it is known.
func (s *session) because(r reason) { s.why.CompareAndSwap(int32(stillOpen), int32(r)) }

// closedFor is why it has ended. Nothing but a lost client ends a session without a word.
func (s *session) closedFor() reason {
	switch {
	case s.why.Load() != int32(stillOpen):
		return reason(s.why.Load())
	case s.admitted.gaveWay.Load():
		return closedLimit
	}
	return closedClient
}
