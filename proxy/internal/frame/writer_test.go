package frame

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// cutting is a connection that accepts half of the first write, and all later ones.
type cutting struct {
	net.Conn
	took int
	cut  bool
}

func (c *cutting) Write(b []byte) (int, error) {
	if !c.cut {
		c.cut = true
		c.took += len(b) / 2
		return len(b) / 2, io.ErrShortWrite
	}
	c.took += len(b)
	return len(b), nil
}

func (c *cutting) SetWriteDeadline(time.Time) error { return nil }

func TestInvariant3NothingFollowsHalfAMessage(t *testing.T) {
	for name, first := range map[string]func(w *Writer) error{
		"of the proxy's": func(w *Writer) error { return w.Write(ready('I')) },
		"of upstream's": func(w *Writer) error {
			return w.Do(func(to io.Writer) error { _, err := to.Write(ready('I')); return err })
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &cutting{}
			w := &Writer{conn: conn, out: conn}
			if err := first(w); !errors.Is(err, io.ErrShortWrite) {
				t.Fatal(err)
			}
			took := conn.took
			if err := w.Write(ready('I')); !errors.Is(err, ErrTorn) {
				t.Errorf("Write: %v", err)
			}
			err := w.Do(func(to io.Writer) error { _, err := to.Write(ready('I')); return err })
			if !errors.Is(err, ErrTorn) {
				t.Errorf("Do: %v", err)
			}
			w.Farewell(message('E', []byte{0}))
			if conn.took != took {
				t.Errorf("%d bytes followed half a message", conn.took-took)
			}
		})
	}
}
