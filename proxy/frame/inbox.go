package frame

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Inbox reads frames from one peer. Its buffer has three borders, each at a frame's edge but for end:
//
//	[ passed on | run … committed to be passed on | held … undecided | pos … not looked at | end )
//
// pos is the reading position. Who never holds a frame has held at pos for good.
//
// While it waits with nothing in it, it has no buffer: ten thousand idle sessions then cost what their goroutines cost.
//
// One goroutine uses it. Slices it gives are valid until it reads again.
type Inbox struct {
	conn net.Conn
	buf  []byte // nil, BufferSize or WideSize
	run  int
	held int
	pos  int
	end  int
	max  int // largest body in bytes

	widens  bool // many small frames are worth a wide buffer, too
	busy    bool // the last read left more to read: the next buffer is a wide one
	inside  int  // bytes yet to be read of a frame that is streamed: the buffer stays, and a wide one takes only these
	buffers *Buffers
	raw     syscall.RawConn               // waits without a buffer; nil where conn has no descriptor of its own
	ready   func(descriptor uintptr) bool // readReady, made once
	first   [1]byte                       // read without a buffer, where raw is nil
	err     error                         // of readReady
	takes   func() error                  // take of Each, for readReady to call; nil outside of it
	refused error                         // of take
}

// NewInbox reads from conn, with buffers from b. Nothing else may read from conn.
// It takes bodies of up to MaxBody bytes.
func NewInbox(conn net.Conn, b *Buffers) *Inbox {
	in := &Inbox{conn: conn, max: MaxBody, buffers: b, raw: descriptorOf(conn)}
	in.ready = in.readReady
	return in
}

// SetMax sets the largest body that is taken, in bytes; Next has a LengthError for a larger one.
func (in *Inbox) SetMax(bytes int) { in.max = bytes }

// AllowWide lets it read into a wide buffer while bytes come faster than they are passed on, where it can do without
// one otherwise.
func (in *Inbox) AllowWide() { in.widens = true }

// Next looks at the frame at the reading position, and leaves it there. An error is a LengthError.
func (in *Inbox) Next() (Frame, error) {
	return look(in.buf[in.pos:in.end], in.max)
}

// Hold keeps the frame at the reading position, which has size bytes and is whole, with those that are held.
func (in *Inbox) Hold(size int) { in.pos += size }

// Pass commits the held frames, and the whole one of size bytes at the reading position, to be passed on.
func (in *Inbox) Pass(size int) {
	in.pos += size
	in.held = in.pos
}

// PassAll commits everything there is, half a frame at the end included.
func (in *Inbox) PassAll() { in.Pass(in.end - in.pos) }

// Drop takes the held frames, and the whole one of size bytes at the reading position, out of the stream. Nothing
// committed may be waiting to be passed on.
func (in *Inbox) Drop(size int) {
	in.pos += size
	in.run, in.held = in.pos, in.pos
}

// Rewind puts the reading position back to the first held frame: none is held any more.
func (in *Inbox) Rewind() { in.pos = in.held }

// Committed is what waits to be passed on.
func (in *Inbox) Committed() []byte { return in.buf[in.run:in.held] }

// Held is the held frames.
func (in *Inbox) Held() []byte { return in.buf[in.held:in.pos] }

// Unread is what has been read from the peer behind the reading position, half a frame at its end perhaps.
func (in *Inbox) Unread() []byte { return in.buf[in.pos:in.end] }

// Empty says that nothing is in it, neither committed nor held nor unread.
func (in *Inbox) Empty() bool { return in.run == in.end }

// Full says that no byte can be read before something is passed on or dropped: a wide buffer is full of what is held
// and unread.
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

// Stream passes on what is committed and held, and then the frame of size bytes at the reading position. All that has
// come of it is written before more is read. A read deadline in the middle of it is taken back. It must not be called
// from within Each.
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
		if errors.Is(err, os.ErrDeadlineExceeded) { // an interrupt, which must wait for the end of the message
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

// Each has take take the frames that are there, now and whenever bytes have come, until take refuses or no byte can be
// read. refused is what take returned; gone is why nothing more comes, io.EOF as a rule. A read deadline, which may
// come from any goroutine, means no more than that take is to look again, and so is taken back.
//
// take passes on or drops what it can, flushes what it has committed, and returns when no whole frame is left that it
// can take. It must not read, nor leave the inbox Full: a frame that is Large is for the caller of Each (ErrLarge). It
// may be called with the connection's read side held, so that a Close of conn, and only that, waits for it to return.
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

// Await waits until the frame at the reading position is whole, and looks at it; nothing before it may be waiting to be
// passed on. A frame that is Large is a LengthError. A read deadline is an error.
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

// Secret waits for one frame, takes it out of the stream and wipes it from the buffer. It may be larger than the
// buffer, as tokens in place of passwords can be; SetMax bounds what is allocated. A read deadline is an error.
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
