package frame

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// memory is a connection whose other side has sent everything already.
type memory struct {
	net.Conn
	in io.Reader
}

func (m *memory) Read(b []byte) (int, error)      { return m.in.Read(b) }
func (m *memory) SetReadDeadline(time.Time) error { return nil }

// chunks gives at most n bytes a read.
type chunks struct {
	b []byte
	n int
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), c.n)], c.b)
	c.b = c.b[n:]
	return n, nil
}

func FuzzFramesAreRelayedAsTheyCame(f *testing.F) {
	f.Add(join(dataRow("1"), ready('I'), message('S')), 3)
	f.Add(message('d', bytes.Repeat([]byte{1}, 3*BufferSize)), 1000)
	f.Add(join(dataRow("1"), message('d', bytes.Repeat([]byte{1}, 3*BufferSize)), bytes.Repeat(ready('I'), BufferSize)),
		8000)
	f.Add([]byte{'Q', 0, 0, 0, 3}, 1)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		conn := &memory{in: &chunks{stream, 1 + max(cut, -cut)%BufferSize}}
		in := NewInbox(conn, NewBuffers())
		var out bytes.Buffer
		var err error
		for err == nil {
			var f Frame
			f, err = in.Next()
			switch {
			case err != nil:
			case f.Whole && f.Kind == 'D': // hold some
				in.Hold(f.Size)
			case f.Whole:
				in.Pass(f.Size)
			case f.Large:
				err = in.Stream(&out, f.Size)
			default:
				if err = in.Flush(&out); err != nil {
					break
				}
				if in.Full() {
					in.Pass(0)
				} else {
					err = in.fill()
				}
			}
		}
		if !bytes.HasPrefix(stream, out.Bytes()) {
			t.Fatal("what was relayed is not the beginning of what came")
		}
		if err == io.EOF && out.Len()+len(in.Held())+len(in.Unread()) != len(stream) {
			t.Fatalf("%d bytes were relayed and %d are kept of %d",
				out.Len(), len(in.Held())+len(in.Unread()), len(stream))
		}
	})
}
