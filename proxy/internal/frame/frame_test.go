package frame

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// relayed takes everything out of the inbox, frame by frame.
func relayed(t *testing.T, in *Inbox) (bytes int) {
	t.Helper()
	for {
		f, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !f.Whole {
			if err := in.Flush(io.Discard); err != nil {
				t.Fatal(err)
			}
			return bytes
		}
		in.Pass(f.Size)
		bytes += f.Size
	}
}

func TestABufferIsWideOnlyWhileBytesComeFasterThanTheyArePassedOn(t *testing.T) {
	near, far := pair(t)
	if NewOutlet(near) == io.Writer(near) {
		t.Skip("this system has no buffers that grow")
	}
	in := NewInbox(far, NewBuffers())
	in.AllowWide()
	rows := bytes.Repeat(dataRow("12345678901234567890"), 8000)
	if _, err := near.Write(rows); err != nil {
		t.Fatal(err)
	}
	widest := 0
	for left := len(rows); left > 0; {
		if err := in.fill(); err != nil {
			t.Fatal(err)
		}
		widest = max(widest, len(in.buf))
		left -= relayed(t, in)
	}
	if widest != WideSize {
		t.Errorf("%d bytes of rows were read into a buffer of at most %d; expected %d", len(rows), widest, WideSize)
	}
	for range 2 { // the first one may still find it wide
		if _, err := near.Write(ready('I')); err != nil {
			t.Fatal(err)
		}
		if err := in.fill(); err != nil {
			t.Fatal(err)
		}
		relayed(t, in)
	}
	if len(in.buf) != BufferSize {
		t.Errorf("a single message was read into a buffer of %d; expected %d", len(in.buf), BufferSize)
	}
}

func TestALargeFrameIsStreamedInLargePiecesAndNotReadPast(t *testing.T) {
	near, far := pair(t)
	in := NewInbox(far, NewBuffers())
	// The end of the frame makes the last piece smaller than a wide buffer.
	large := message('d', bytes.Repeat([]byte("x"), WideSize-1))
	sent := join(large, ready('I'), large, large)
	go func() { _, _ = near.Write(sent) }()
	var got bytes.Buffer
	for got.Len() < len(sent) {
		f, err := in.Next()
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Large:
			until := got.Len() + f.Size
			err = in.Stream(writerFunc(func(b []byte) (int, error) {
				first := until-got.Len() == f.Size
				if in.raw != nil && !first && until-got.Len() > BufferSize && len(in.buf) != WideSize {
					t.Errorf("%d bytes were to come, and the buffer they were read into was one of %d",
						until-got.Len(), len(in.buf))
				}
				return got.Write(b)
			}), f.Size)
			if err == nil && len(in.buf) > BufferSize && len(in.Unread()) > 0 {
				t.Errorf("%d bytes of what follows a large frame are in a buffer of %d", len(in.Unread()), len(in.buf))
			}
		case f.Whole:
			in.Pass(f.Size)
			err = in.Flush(&got)
		default:
			err = in.fill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), sent) {
		t.Error("what was streamed is not what was sent")
	}
}

// plain hides the descriptor of a connection, as TLS does.
type plain struct{ net.Conn }

func TestAFullNarrowBufferOfWhatIsHeldBecomesAWideOneAndOnlyThatIsFull(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"with a descriptor": func(c net.Conn) net.Conn { return c },
		"without one":       func(c net.Conn) net.Conn { return plain{c} },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			in := NewInbox(wrap(far), NewBuffers())
			row := dataRow("12345678901234567890")
			sent := bytes.Repeat(row, 2*WideSize/len(row))
			go func() { _, _ = near.Write(sent) }()
			hold := func() {
				for {
					f, err := in.Next()
					if err != nil {
						t.Fatal(err)
					}
					if !f.Whole {
						return
					}
					in.Hold(f.Size)
				}
			}
			for hold(); !in.Full(); hold() {
				if err := in.fill(); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(in.Held()) + len(in.Unread()); n != WideSize || len(in.buf) != WideSize ||
				!bytes.Equal(in.Held(), sent[:len(in.Held())]) {
				t.Fatalf("it is full with %d bytes in a buffer of %d, or holds something else; expected %d",
					n, len(in.buf), WideSize)
			}
			in.Rewind()
			if len(in.Held()) > 0 || len(in.Unread()) != WideSize {
				t.Fatalf("after Rewind %d bytes are held and %d unread", len(in.Held()), len(in.Unread()))
			}
			got := 0
			for got += relayed(t, in); got < len(sent); got += relayed(t, in) {
				if err := in.fill(); err != nil {
					t.Fatal(err)
				}
			}
			if !in.Empty() {
				t.Errorf("%d bytes are left", len(in.Unread()))
			}
			if _, err := near.Write(row); err != nil {
				t.Fatal(err)
			}
			if err := in.fill(); err != nil {
				t.Fatal(err)
			}
			if len(in.buf) != BufferSize || !bytes.Equal(in.Unread(), row) {
				t.Errorf("after it was empty a frame is read into a buffer of %d; expected %d", len(in.buf), BufferSize)
			}
		})
	}
}

func TestOfAFullNarrowBufferAllThatIsCommittedIsPassedOnFirst(t *testing.T) {
	near, far := pair(t)
	in := NewInbox(plain{far}, NewBuffers())
	sent := message('d', bytes.Repeat([]byte("x"), BufferSize-HeaderSize))
	if _, err := near.Write(join(sent, ready('I'))); err != nil {
		t.Fatal(err)
	}
	for len(in.Unread()) < BufferSize {
		if err := in.fill(); err != nil {
			t.Fatal(err)
		}
	}
	relayed(t, in)
	if err := in.fill(); err != nil {
		t.Fatal(err)
	}
	if len(in.buf) != BufferSize || !bytes.Equal(in.Unread(), ready('I')) {
		t.Errorf("a buffer of which everything was passed on has become one of %d", len(in.buf))
	}
}

func TestAFrameThatIsWholeInAWideBufferIsNotStreamedPastItsEnd(t *testing.T) {
	near, far := pair(t)
	in := NewInbox(far, NewBuffers())
	row := dataRow("1")
	held := bytes.Repeat(row, BufferSize/len(row))
	large := message('d', bytes.Repeat([]byte("x"), 2*BufferSize))
	go func() { _, _ = near.Write(join(held, large, ready('I'))) }()
	for n := 0; n < len(held)+len(large)+len(ready('I')); n = len(in.Held()) + len(in.Unread()) {
		if err := in.fill(); err != nil {
			t.Fatal(err)
		}
		for len(in.Held()) < len(held) && len(in.Unread()) >= len(row) {
			in.Hold(len(row))
		}
	}
	f, err := in.Next()
	if err != nil || !f.Whole || f.Large || f.Size != len(large) {
		t.Fatalf("%+v, %v; expected all of a frame", f, err)
	}
	var got bytes.Buffer
	if err := in.Stream(&got, f.Size); err != nil || !bytes.Equal(got.Bytes(), join(held, large)) ||
		!bytes.Equal(in.Unread(), ready('I')) {
		t.Errorf("%d bytes were streamed, and %q is left; %v", got.Len(), in.Unread(), err)
	}
}

func TestDropTakesTheHeldFramesOutAndRewindGivesThemBack(t *testing.T) {
	near, far := pair(t)
	in := NewInbox(far, NewBuffers())
	one, two := dataRow("1"), dataRow("2")
	if _, err := near.Write(join(one, two, one, two)); err != nil {
		t.Fatal(err)
	}
	for len(in.Unread()) < 4*len(one) {
		if err := in.fill(); err != nil {
			t.Fatal(err)
		}
	}
	in.Hold(len(one))
	in.Hold(len(two))
	in.Rewind()
	in.Hold(len(one))
	in.Drop(len(two))
	in.Hold(len(one))
	in.Pass(len(two))
	if !bytes.Equal(in.Committed(), join(one, two)) || in.Empty() {
		t.Errorf("%q is committed", in.Committed())
	}
	var got bytes.Buffer
	if err := in.Flush(&got); err != nil || !bytes.Equal(got.Bytes(), join(one, two)) || !in.Empty() {
		t.Errorf("%q was passed on, %v", &got, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestInvariant10NothingOfAPasswordStaysInTheBuffer(t *testing.T) {
	password := message('p', []byte("secret\x00"))
	in := NewInbox(&memory{in: bytes.NewReader(password)}, NewBuffers())
	kind, contents, err := in.Secret()
	if err != nil || kind != 'p' || string(contents) != "secret\x00" {
		t.Fatalf("read %q %q, %v", kind, contents, err)
	}
	if left := in.buf[:64]; bytes.Contains(left, []byte("secret")) {
		t.Errorf("the buffer holds %q", left)
	}
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// message frames a body.
func message(kind byte, body ...[]byte) []byte {
	all := join(body...)
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(all)+4)), all...)
}

func ready(status byte) []byte { return message('Z', []byte{status}) }

func dataRow(value string) []byte {
	return message('D', []byte{0, 1, 0, 0, 0, byte(len(value))}, []byte(value))
}
