package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	// bufferSize is the size of a session's two read buffers in bytes: PostgreSQL's own. A larger frame is streamed.
	bufferSize = 8 << 10
	// wideSize is the size they have while bytes come faster than they are passed on: fewer and larger reads and writes.
	wideSize = 64 << 10
	// headerSize is the type byte and the length of a frame.
	headerSize = 5
	// maxFrame is the largest body in bytes, PostgreSQL's own limit (MaxAllocSize).
	maxFrame = 1<<30 - 1
	// maxFrameBeforeReady caps what an unauthenticated client may send, as PostgreSQL does for passwords.
	maxFrameBeforeReady = 65535
)

// errFrame is a length no frame can have; the stream cannot be followed from there on.
type errFrame struct {
	kind   byte
	length uint32
	limit  int
}

func (e errFrame) Error() string {
	return fmt.Sprintf("message %q claims a length of %d bytes; expected 4 to %d", e.kind, e.length, e.limit+4)
}

// inbox reads frames from one peer. Its buffer has three borders, each at a frame's edge but for end:
//
//	[ passed on | run … committed to be passed on | held … undecided | pos … not looked at | end )
//
// Only server.go leaves held at pos for good; client.go holds the messages of a unit there until its Execute is read.
//
// While it waits with nothing in it, it has no buffer: ten thousand idle sessions then cost what their goroutines cost.
type inbox struct {
	conn net.Conn
	buf  []byte // nil, bufferSize or wideSize
	run  int
	held int
	pos  int
	end  int
	max  int  // largest body in bytes
	last byte // kind of the frame that next looked at

	widens  bool // many small frames are worth a wide buffer, too
	busy    bool // the last read left more to read: the next buffer is a wide one
	inside  int  // bytes yet to be read of a frame that is streamed: the buffer stays, and a wide one takes only these
	buffers *buffers
	raw     syscall.RawConn               // waits without a buffer; nil where conn has no descriptor of its own
	ready   func(descriptor uintptr) bool // readReady, made once
	err     error                         // of readReady
	takes   func() error                  // take of each, for readReady to call; nil outside of it
	refused error                         // of take
	turn    bool                          // take sets it: the peer has said all it has to say before it hears from the other side
	blind   atomic.Uint64                 // the number of the blind wait it is in; 0: in none (blind.go)
	seen    uint64                        // blind, when lookAgain saw it last
}

func newInbox(conn net.Conn, buffers *buffers) *inbox {
	in := &inbox{conn: conn, max: maxFrame, buffers: buffers, raw: descriptorOf(conn)}
	in.ready = in.readReady
	return in
}

// replySize is the size of a buffer for local replies: a chunk that is written when it is full, and the row that filled it.
const replySize = outChunk + bufferSize

// buffers is what the sessions of a proxy share: to read into, and for local replies.
type buffers struct{ narrow, wide, replies sync.Pool }

func newBuffers() *buffers {
	return &buffers{
		narrow: sync.Pool{New: func() any { return new([bufferSize]byte) }},
		wide:   sync.Pool{New: func() any { return new([wideSize]byte) }},

		replies: sync.Pool{New: func() any { return new([replySize]byte) }},
	}
}

// putReplies takes a buffer back, unless it has outgrown its size.
func (b *buffers) putReplies(out []byte) {
	if cap(out) == replySize {
		b.replies.Put((*[replySize]byte)(out[:replySize]))
	}
}

func (b *buffers) get(wide bool) []byte {
	if wide {
		return b.wide.Get().(*[wideSize]byte)[:]
	}
	return b.narrow.Get().(*[bufferSize]byte)[:]
}

func (b *buffers) put(buf []byte) {
	switch len(buf) {
	case bufferSize:
		b.narrow.Put((*[bufferSize]byte)(buf))
	case wideSize:
		b.wide.Put((*[wideSize]byte)(buf))
	}
}

// next looks at the frame at pos. whole says that all of it is in the buffer, body then being its contents; fits says
// that it can be. Where it cannot, body is what there is of it.
func (in *inbox) next() (kind byte, body []byte, size int, whole, fits bool, err error) {
	have := in.buf[in.pos:in.end]
	if len(have) < headerSize {
		return 0, nil, 0, false, true, nil
	}
	length := binary.BigEndian.Uint32(have[1:])
	if length < 4 || length-4 > uint32(in.max) {
		return have[0], nil, 0, false, false, errFrame{have[0], length, in.max}
	}
	size, in.last = int(length)+1, have[0]
	if len(have) >= size {
		return have[0], have[headerSize:size], size, true, true, nil
	}
	return have[0], have[headerSize:], size, false, size <= bufferSize, nil
}

// errLarge: the frame at pos is larger than the buffer.
var errLarge = errors.New("frame is larger than the buffer")

// each has take take the frames that are there, now and whenever bytes have come, until it refuses or no byte can be read. A read
// deadline, which may come from any goroutine, means no more than that take is to look again, and so is taken back.
//
// take must not read: a frame that is errLarge is for the caller of each. It may be called with the connection's read side held, so
// that a Close of conn, and only that, waits for it to return.
func (in *inbox) each(take func() error) (refused, gone error) {
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

// fill reads once, after making room. The bytes before run are given up, so they must have been written. Within each it may go on
// to take and read.
func (in *inbox) fill() error {
	if in.raw == nil {
		in.makeRoom()
		return in.fillSlowly()
	}
	if err := in.raw.Read(in.ready); err != nil {
		return err
	}
	return in.err
}

// makeRoom moves what is yet to be passed on to the front of the buffer, and chooses another buffer where that fits better.
func (in *inbox) makeRoom() {
	if in.run > 0 {
		copy(in.buf, in.buf[in.run:in.end])
		in.held -= in.run
		in.pos -= in.run
		in.end -= in.run
		in.run = 0
	}
	switch {
	case in.raw == nil:
	case in.end == 0 && in.inside == 0:
		in.release()
	case in.busy && len(in.buf) == bufferSize:
		wide := in.buffers.get(true)
		copy(wide, in.buf[:in.end])
		in.buffers.put(in.buf)
		in.buf = wide
	}
}

// fillSlowly is fill for what is read through its net.Conn. The buffer stays.
func (in *inbox) fillSlowly() error {
	if in.buf == nil {
		in.buf = in.buffers.get(false)
	}
	n, err := in.conn.Read(in.buf[in.end:])
	in.end += n
	if n > 0 {
		return nil
	}
	return err
}

// release gives an empty buffer back.
func (in *inbox) release() {
	if in.buf != nil {
		in.buffers.put(in.buf)
		in.buf = nil
	}
}

// await waits until the frame at pos is whole, and looks at it; nothing before it may be waiting to be passed on. A frame that
// is larger than the buffer is an error.
func (in *inbox) await() (kind byte, body []byte, size int, err error) {
	for {
		kind, body, size, whole, fits, err := in.next()
		if err == nil && !fits {
			err = errFrame{kind, uint32(size - 1), bufferSize - headerSize}
		}
		if whole || err != nil {
			return kind, body, size, err
		}
		if err := in.fill(); err != nil {
			return 0, nil, 0, err
		}
	}
}

// full says that no byte can be read before something is passed on.
func (in *inbox) full() bool { return in.run == 0 && in.buf != nil && in.end == len(in.buf) }

// commit gives up holding: everything before pos is to be passed on.
func (in *inbox) commit() { in.held = in.pos }

// drop takes the held bytes out of the stream; nothing before them may be waiting to be passed on.
func (in *inbox) drop() {
	in.run = in.pos
	in.held = in.pos
}

// take takes one whole frame, the one at pos, out of the stream.
func (in *inbox) take(size int) {
	in.pos += size
	in.drop()
}

// flush passes on what is committed, in one write.
func (in *inbox) flush(to io.Writer) error {
	if in.run == in.held {
		return nil
	}
	_, err := to.Write(in.buf[in.run:in.held])
	in.run = in.held
	return err
}

// stream passes on a frame that is larger than the buffer, having passed on what is committed. It holds none of it back.
func (in *inbox) stream(to io.Writer, size int) error {
	in.commit()
	if err := in.flush(to); err != nil {
		return err
	}
	rest := size - (in.end - in.pos)
	if _, err := to.Write(in.buf[in.pos:in.end]); err != nil {
		return err
	}
	defer func() { in.inside = 0 }()
	for rest > 0 {
		in.inside = rest
		in.run, in.held, in.pos, in.end = 0, 0, 0, 0
		if wide := in.raw != nil && rest > bufferSize; wide != (len(in.buf) == wideSize) {
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
		n := min(rest, in.end)
		if _, err := to.Write(in.buf[:n]); err != nil {
			return err
		}
		rest -= n
		in.run, in.held, in.pos = n, n, n
	}
	return nil
}
