package node

import (
	"time"

	"pgflurry/admin"
	"pgflurry/proxy"
)

// configured is the configuration in use.
type configured struct {
	at           time.Time // by the wall clock
	certificates []admin.Certificate
}

// tookOver records a configuration that is in use: at the start, and after each Reload.
func (n *Node) tookOver(t TLS, s proxy.Settings) {
	c := &configured{at: n.clock.wall()}
	if client := s.ClientTLS; client != nil {
		c.certificates = append(c.certificates, admin.Certificate{File: t.ClientCert, Until: client.Until()})
	}
	if shown := s.UpstreamTLS.Certificate; shown != nil {
		c.certificates = append(c.certificates, admin.Certificate{
			File: t.UpstreamCert, Until: shown.Leaf.NotAfter, // readCertificate has parsed it
		})
	}
	n.configured.Store(c)
}
