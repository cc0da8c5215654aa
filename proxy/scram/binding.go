package scram

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"sync/atomic"

	"github.com/xdg-go/scram"
)

// Binding is what a login is tied to by channel binding: a hash of the server's certificate (tls-server-end-point,
// RFC 5929). The zero value binds nothing: there is no TLS, or no hash is defined for the certificate's signature, as
// for Ed25519.
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

// Binds says that there is something to bind to, so that the server offers Plus.
func (b Binding) Binds() bool { return b.to.IsSupported() }

// Binder makes Bindings, and remembers that of the last certificate: as a rule all clients see the same one. Its zero
// value is ready, and it is safe for concurrent use.
type Binder struct{ last atomic.Pointer[bound] }

type bound struct {
	certificate []byte
	binding     Binding
}

// To is NewBinding. The certificate must not change afterwards.
func (b *Binder) To(certificate []byte) Binding {
	if last := b.last.Load(); last != nil && bytes.Equal(last.certificate, certificate) {
		return last.binding
	}
	made := &bound{certificate, NewBinding(certificate)}
	b.last.Store(made)
	return made.binding
}
