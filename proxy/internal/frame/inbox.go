package frame

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Inbox reads frames from one peer. Its buffer has three borders between frames, and its end:
//
//	[ passed on | run … committed to be passed on | held … undecided | pos … not looked at | end )
//
// pos is the reading position. For a user that never holds a frame, held equals pos.
//
// While an empty inbox waits, it has no buffer. So ten thousand idle sessions cost little more than their goroutines.
//
// One goroutine uses an inbox. Slices of it are valid until it reads again.
type Inbox struct {
	conn net.Conn
	buf  []byte // nil, BufferSize or WideSize
	run  int
	held int
	pos  int
	end  int
	max  int // largest body in bytes

	widens bool // many small frames also justify a wide buffer
	busy   bool // the last read left more to read, so the next buffer is a wide one
	// inside is how many bytes of a streamed frame are still to be read. Meanwhile the buffer stays, and a wide one
	// reads no bytes beyond the frame.
	inside  int
	buffers *Buffers
	raw     syscall.RawConn               // waits without a buffer; nil if conn has no descriptor of its own
	ready   func(descriptor uintptr) bool // readReady, bound once
	first   [1]byte                       // read without a buffer if raw is nil
	err     error                         // of readReady
	takes   func() error                  // the callback of Each, for readReady to call; nil outside of Each
	refused error                         // the error of takes
}

// NewInbox reads from conn, with buffers from b. Nothing else may read from conn. It accepts bodies of up to MaxBody
// bytes.
func NewInbox(conn net.Conn, b *Buffers) *Inbox {
	in := &Inbox{conn: conn, max: MaxBody, buffers: b, raw: descriptorOf(conn)}
	in.ready = in.readReady
	return in
}

// SetMax sets the largest body that the inbox accepts, in bytes. For a larger one Next returns a LengthError.
func (in *Inbox) SetMax(bytes int) { in.max = bytes }

// AllowWide lets the inbox use a wide buffer also while bytes come faster than they are passed on.
func (in *Inbox) AllowWide() { in.widens = true }

// Next returns the frame at the reading position, and leaves it there. An error is a LengthError.
func (in *Inbox) Next() (Frame, error) {
	return look(in.buf[in.pos:in.end], in.max)
}

// Hold adds the whole frame of size bytes at the reading position to the held ones.
func (in *Inbox) Hold(size int) { in.pos += size }

// Pass commits the held frames to be passed on, with the whole frame of size bytes at the reading position.
func (in *Inbox) Pass(size int) {
	in.pos += size
	in.held = in.pos
}

// PassAll commits everything, including half a frame at the end.
func (in *Inbox) PassAll() { in.Pass(in.end - in.pos) }

// Drop removes the held frames from the stream, with the whole frame of size bytes at the reading position. Nothing
// that is committed may be waiting to be passed on.
func (in *Inbox) Drop(size int) {
	in.pos += size
	in.run, in.held = in.pos, in.pos
}

// Rewind moves the reading position back to the first held frame. No frame is held afterwards.
func (in *Inbox) Rewind() { in.pos = in.held }

// Committed is what waits to be passed on.
func (in *Inbox) Committed() []byte { return in.buf[in.run:in.held] }

// Held returns the held frames.
func (in *Inbox) Held() []byte { return in.buf[in.held:in.pos] }

// Unread is what has come after the reading position. It may end in the middle of a frame.
func (in *Inbox) Unread() []byte { return in.buf[in.pos:in.end] }

// Empty says that nothing is committed, held or unread.
func (in *Inbox) Empty() bool { return in.run == in.end }

// Full says that a wide buffer is full of held and unread bytes. Nothing can be read before some are passed on or
// dropped.
func (in *Inbox) Full() bool { return in.run == 0 && len(in.buf) == WideSize && in.end == len(in.buf) }

// Flush passes on what is committed, in one write.
func (in *Inbox) Flush(to io.Writer) error {
	if in.run == in.held {
		return nil
	}
	_, err := to.Write(in.buf[in.run:in.held])
	in.run = in.held
	return err
}

// Stream passes on what is committed and held, and then the frame of size bytes at the reading position. It writes what
// has come of it before it reads more. It resets a read deadline in the middle of the frame. It must not be called from
// within Each.
func (in *Inbox) Stream(to io.Writer, size int) error {
	in.held = in.pos
	if err := in.Flush(to); err != nil {
		return err
	}
	n := min(size, in.end-in.pos)
	if _, err := to.Write(in.buf[in.pos : in.pos+n]); err != nil {
		return err
	}
	in.Drop(n)
	defer func() { in.inside = 0 }()
	for rest := size - n; rest > 0; rest -= n {
		in.inside = rest
		in.run, in.held, in.pos, in.end = 0, 0, 0, 0
		if wide := in.raw != nil && rest > BufferSize; wide != (len(in.buf) == WideSize) {
			in.release()
			in.busy = wide
		}
		err := in.fill()
		if errors.Is(err, os.ErrDeadlineExceeded) { // an interrupt has to wait for the end of the message
			err = in.conn.SetReadDeadline(noDeadline)
		}
		if err != nil {
			return err
		}
		n = min(rest, in.end)
		if _, err := to.Write(in.buf[:n]); err != nil {
			return err
		}
		in.Drop(n)
	}
	return nil
}

// Each calls take for the frames in the buffer, now and whenever bytes have come. It ends when take returns an error,
// or when no byte can be read. refused is the error of take. gone is why nothing more comes, usually io.EOF. A read
// deadline, which any goroutine may set, only makes Each call take once more; Each resets it.
//
// take passes on or drops what it can, and flushes what it has committed. It returns when there is no whole frame that
// it can take. It must not read, and must not leave the inbox Full: the caller of Each streams a Large frame
// (ErrLarge). Each may hold the connection's read side while it calls take. So a Close of conn, and only that, waits
// for take to return.
func (in *Inbox) Each(take func() error) (refused, gone error) {
	for {
		if err := take(); err != nil {
			return err, nil
		}
		in.takes, in.refused = take, nil
		err := in.fill()
		in.takes = nil
		if in.refused != nil {
			return in.refused, nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = in.conn.SetReadDeadline(noDeadline)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Await waits until the frame at the reading position is whole, and returns it. Nothing before it may be waiting to be
// passed on. A Large frame is a LengthError. A read deadline is an error.
func (in *Inbox) Await() (Frame, error) {
	for {
		f, err := in.Next()
		if err == nil && f.Large {
			err = LengthError{f.Kind, uint32(f.Size - 1), BufferSize - HeaderSize}
		}
		if f.Whole || err != nil {
			return f, err
		}
		if err := in.fill(); err != nil {
			return Frame{}, err
		}
	}
}

// Secret waits for one frame, takes it out of the stream and wipes it from the buffer. The frame may be larger than the
// buffer, since a token may stand in place of a password. SetMax limits what Secret allocates. A read deadline is an
// error.
func (in *Inbox) Secret() (kind byte, contents []byte, err error) {
	for {
		f, err := in.Next()
		if err != nil {
			return f.Kind, nil, err
		}
		if f.Whole || f.Large {
			contents = make([]byte, f.Size-HeaderSize)
			n := copy(contents, f.Body)
			clear(f.Body)
			in.Drop(HeaderSize + n)
			_, err = io.ReadFull(in.conn, contents[n:])
			return f.Kind, contents, err
		}
		if err := in.fill(); err != nil {
			return 0, nil, err
		}
	}
}
