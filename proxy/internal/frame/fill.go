package frame

import "time"

var (
	noDeadline = time.Time{}
	longAgo    = time.Unix(1, 0)
)

// fill makes room, then reads once. It overwrites the bytes before run, so they must have been written. Within Each it
// may repeat both, and call take between reads.
func (in *Inbox) fill() error {
	if in.raw == nil {
		in.makeRoom()
		return in.fillSlowly()
	}
	if err := in.raw.Read(in.ready); err != nil {
		return err
	}
	return in.err
}

// makeRoom moves what must still be passed on to the front of the buffer. It swaps the buffer if the other size fits
// better.
func (in *Inbox) makeRoom() {
	if in.run > 0 {
		copy(in.buf, in.buf[in.run:in.end])
		in.held -= in.run
		in.pos -= in.run
		in.end -= in.run
		in.run = 0
	}
	switch {
	case in.end == 0 && in.inside == 0:
		in.release()
	case len(in.buf) == BufferSize && (in.busy || in.end == BufferSize):
		wide := in.buffers.get(true)
		copy(wide, in.buf[:in.end])
		in.buffers.put(in.buf)
		in.buf = wide
	}
}

// fillSlowly is fill for a connection without a descriptor. With nothing in the inbox it waits for a single byte, for
// which it needs no buffer. Every frame is longer, so the rest is there already or comes soon.
func (in *Inbox) fillSlowly() error {
	waited := in.buf == nil
	if waited {
		if n, err := in.conn.Read(in.first[:]); n == 0 {
			return err
		}
		in.buf = in.buffers.get(false)
		in.buf[0], in.first[0], in.end = in.first[0], 0, 1
	}
	n, err := in.conn.Read(in.buf[in.end:])
	in.end += n
	if n > 0 || waited { // the next read returns the error again
		return nil
	}
	return err
}

// release gives back an empty buffer.
func (in *Inbox) release() {
	if in.buf != nil {
		in.buffers.put(in.buf)
		in.buf = nil
	}
}
