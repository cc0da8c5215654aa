package node

import (
	"time"

	"pgflurry/proxy"
	"pgflurry/report"
)

// configured is the configuration in use.
type configured struct {
	at           time.Time // by the wall clock
	certificates []report.Certificate
}

// tookOver records a configuration that is in use: at the start, and after each Reload.
func (n *Node) tookOver(t TLS, s proxy.Settings) {
	c := &configured{at: n.clock.wall()}
	if client := s.ClientTLS; client != nil {
		c.certificates = append(c.certificates, report.Certificate{File: t.ClientCert, Until: client.Until()})
	}
	if shown := s.UpstreamTLS.Certificate; shown != nil {
		c.certificates = append(c.certificates, report.Certificate{
			File: t.UpstreamCert, Until: shown.Leaf.NotAfter, // readCertificate has parsed it
		})
	}
	n.configured.Store(c)
}
