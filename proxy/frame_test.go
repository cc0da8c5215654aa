package proxy

import (
	"bytes"
	"io"
	"testing"
)

// relayed takes everything out of the inbox, frame by frame.
func relayed(t *testing.T, in *inbox) (bytes int) {
	t.Helper()
	for {
		_, _, size, whole, _, err := in.next()
		if err != nil {
			t.Fatal(err)
		}
		if !whole {
			in.commit()
			if err := in.flush(io.Discard); err != nil {
				t.Fatal(err)
			}
			return bytes
		}
		in.pos += size
		bytes += size
	}
}

func TestABufferIsWideOnlyWhileBytesComeFasterThanTheyArePassedOn(t *testing.T) {
	near, far := pair(t)
	if newOutlet(near) == io.Writer(near) {
		t.Skip("this system has no buffers that grow")
	}
	in := newInbox(far, newBuffers())
	in.widens = true
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
	if widest != wideSize {
		t.Errorf("%d bytes of rows were read into a buffer of at most %d; expected %d", len(rows), widest, wideSize)
	}
	for range 2 { // the first may still find it wide
		if _, err := near.Write(ready('I')); err != nil {
			t.Fatal(err)
		}
		if err := in.fill(); err != nil {
			t.Fatal(err)
		}
		relayed(t, in)
	}
	if len(in.buf) != bufferSize {
		t.Errorf("a single message was read into a buffer of %d; expected %d", len(in.buf), bufferSize)
	}
}

func TestALargeFrameIsStreamedInLargePiecesAndNotReadPast(t *testing.T) {
	near, far := pair(t)
	in := newInbox(far, newBuffers())
	large := message('d', bytes.Repeat([]byte("x"), wideSize-1)) // its end makes the last piece smaller than a wide buffer
	sent := join(large, ready('I'), large, large)
	go func() { _, _ = near.Write(sent) }()
	var got bytes.Buffer
	for got.Len() < len(sent) {
		_, _, size, whole, fits, err := in.next()
		switch {
		case err != nil:
			t.Fatal(err)
		case !fits:
			until := got.Len() + size
			err = in.stream(writerFunc(func(b []byte) (int, error) {
				first := until-got.Len() == size
				if in.raw != nil && !first && until-got.Len() > bufferSize && len(in.buf) != wideSize {
					t.Errorf("%d bytes were to come, and the buffer they were read into was one of %d", until-got.Len(), len(in.buf))
				}
				return got.Write(b)
			}), size)
			if err == nil && len(in.buf) > bufferSize && in.pos < in.end {
				t.Errorf("%d bytes of what follows a large frame are in a buffer of %d", in.end-in.pos, len(in.buf))
			}
		case whole:
			in.pos += size
			in.commit()
			err = in.flush(&got)
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

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
