package pgtls

import (
	"errors"
	"io"
	"net"
	"testing"
)

// endless is a connection whose other side sends zeros for ever.
type endless struct{ net.Conn }

func (endless) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func TestAHandshakeIsBoundedInMemory(t *testing.T) {
	n, err := io.Copy(io.Discard, &handshaking{Conn: endless{}, most: maxClientHandshake})
	if !errors.Is(err, errHandshakeSize) || n > maxClientHandshake+64<<10 {
		t.Errorf("%d bytes were read, then %v", n, err)
	}
}
