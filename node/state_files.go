package node

import (
	"time"

	"pgflurry/config"
	"pgflurry/report"
)

// configured is the configuration in use.
type configured struct {
	at           time.Time // by the wall clock
	certificates []report.Certificate
}

// tookOver records a configuration that is in use: at the start, and after each Reload.
func (n *Node) tookOver(s config.Settings) {
	c := &configured{at: n.clock.wall()}
	if client := s.Keys.Client; client != nil {
		c.certificates = append(c.certificates, report.Certificate{File: s.TLS.ClientCert, Until: client.Until()})
	}
	if shown := s.Keys.Upstream.Certificate; shown != nil {
		c.certificates = append(c.certificates, report.Certificate{
			File: s.TLS.UpstreamCert, Until: shown.Leaf.NotAfter, // X509KeyPair has parsed it
		})
	}
	n.configured.Store(c)
}
