package frame

import "sync"

const (
	// BufferSize is the size of an inbox's narrow buffer in bytes: PostgreSQL's own. A larger frame is streamed.
	BufferSize = 8 << 10
	// WideSize is the size its buffer has in bytes while a narrow one is too small for what is held, or bytes come
	// faster than they are passed on (AllowWide). Reads and writes are then fewer and larger.
	WideSize = 64 << 10
	// ReplyChunk is how many bytes of local replies are gathered before they are written in the middle of an answer.
	ReplyChunk = 16 << 10
	// replySize is the size of a buffer for local replies: a chunk that is written when it is full, and the row that
	// filled it.
	replySize = ReplyChunk + BufferSize
)

// Buffers is what the sessions of a proxy share: to read into, and for local replies. Its methods are safe for
// concurrent use.
type Buffers struct{ narrow, wide, replies sync.Pool }

// NewBuffers makes some. They hold no memory before they are used.
func NewBuffers() *Buffers {
	return &Buffers{
		narrow:  sync.Pool{New: func() any { return new([BufferSize]byte) }},
		wide:    sync.Pool{New: func() any { return new([WideSize]byte) }},
		replies: sync.Pool{New: func() any { return new([replySize]byte) }},
	}
}

// GetReplies gives an empty slice with room for ReplyChunk bytes of replies and the row that fills them.
func (b *Buffers) GetReplies() []byte { return b.replies.Get().(*[replySize]byte)[:0] }

// PutReplies takes a slice back that GetReplies gave, unless it has outgrown its size. The caller uses it no more.
func (b *Buffers) PutReplies(out []byte) {
	if cap(out) == replySize {
		b.replies.Put((*[replySize]byte)(out[:replySize]))
	}
}

func (b *Buffers) get(wide bool) []byte {
	if wide {
		return b.wide.Get().(*[WideSize]byte)[:]
	}
	return b.narrow.Get().(*[BufferSize]byte)[:]
}

func (b *Buffers) put(buf []byte) {
	switch len(buf) {
	case BufferSize:
		b.narrow.Put((*[BufferSize]byte)(buf))
	case WideSize:
		b.wide.Put((*[WideSize]byte)(buf))
	}
}
