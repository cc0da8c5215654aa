package scram

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"sync/atomic"

	"github.com/xdg-go/scram"
)

// Binding is what channel binding ties a login to: a hash of the server's certificate (tls-server-end-point, RFC 5929).
// The zero value binds nothing. It stands for a connection without TLS, or for a certificate whose signature has no
// hash defined, such as Ed25519.
type Binding struct{ to scram.ChannelBinding }

// NewBinding binds to a certificate in DER; nil: there is none.
func NewBinding(certificate []byte) Binding {
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		return Binding{}
	}
	to, err := scram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{parsed}})
	if err != nil {
		return Binding{}
	}
	return Binding{to}
}

// Binds says whether there is something to bind to. Then the server offers Plus.
func (b Binding) Binds() bool { return b.to.IsSupported() }

// Binder makes Bindings, and caches that of the last certificate, since all clients usually see the same one. Its zero
// value is ready for use, and it is safe for concurrent use.
type Binder struct{ last atomic.Pointer[bound] }

type bound struct {
	certificate []byte
	binding     Binding
}

// To is NewBinding with the cache. The certificate must not change afterwards.
func (b *Binder) To(certificate []byte) Binding {
	if last := b.last.Load(); last != nil && bytes.Equal(last.certificate, certificate) {
		return last.binding
	}
	made := &bound{certificate, NewBinding(certificate)}
	b.last.Store(made)
	return made.binding
}
