package proxy

// reason is why a session ended. The first reason noticed counts; later ones are its consequences.
type reason int32

const (
	stillOpen      reason = iota
	closedClient          // the client left, or its connection was lost
	closedRefused         // PostgreSQL refused the login
	closedUpstream        // upstream ended it with a FATAL, or its connection was lost or refused
	closedDrain           // the proxy drains
	closedLimit           // it had not logged in, and gave way to another one
	closedTimeout         // the login timeout
	closedProtocol        // the client broke the protocol, or asked for what the proxy does not allow
	closedFault           // a fault of the proxy
	closedDemoted         // its host is no longer the primary
	reasons
)

var reasonLabels = [reasons]string{
	"", "client", "refused", "upstream", "drain", "limit", "timeout", "protocol", "fault",
	"demoted",
}
