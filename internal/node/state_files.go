package node

import (
	"sync/atomic"
	"time"

	"pgflurry/internal/config"
	"pgflurry/internal/report"
)

// A phase is how far a node has come: since when, with which configuration, whether it takes clients, and whether they
// need it.
type phase struct {
	started           time.Time // by the wall clock
	configured        atomic.Pointer[configured]
	serving, draining atomic.Bool
	answering         chan struct{} // closed once there are IDs from memory
}

// configured is the configuration in use.
type configured struct {
	at           time.Time // by the wall clock
	certificates []report.Certificate
	refused      string // why a later configuration was not taken; empty: there was none
}

// tookOver records a configuration that is in use: at the start, and after each Reload.
func (p *phase) tookOver(s config.Settings, at time.Time) {
	c := &configured{at: at}
	if client := s.Keys.Client; client != nil {
		c.certificates = append(c.certificates, report.Certificate{File: s.TLS.ClientCert, Until: client.Until()})
	}
	if shown := s.Keys.Upstream.Certificate; shown != nil {
		c.certificates = append(c.certificates, report.Certificate{
			File: s.TLS.UpstreamCert, Until: shown.Leaf.NotAfter, // X509KeyPair has parsed it
		})
	}
	p.configured.Store(c)
}

// NotReloaded records for operators why a new configuration could not be read. The next Reload that succeeds ends it.
func (n *Node) NotReloaded(cause string) {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	c := *n.phase.configured.Load()
	c.refused = cause
	n.phase.configured.Store(&c)
}
