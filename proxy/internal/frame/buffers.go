package frame

import "sync"

const (
	// BufferSize is the size of an inbox's narrow buffer in bytes, as in PostgreSQL. A larger frame is streamed.
	BufferSize = 8 << 10
	// WideSize is the size of an inbox's wide buffer in bytes. It replaces a narrow one that is too small for the held
	// frames, or if bytes come faster than they are passed on (AllowWide). Then reads and writes are fewer and larger.
	WideSize = 64 << 10
	// ReplyChunk is how many bytes of local replies are collected before a write in the middle of an answer.
	ReplyChunk = 16 << 10
	// replySize is the size of a buffer for local replies: a full chunk, and the row that filled it.
	replySize = ReplyChunk + BufferSize
)

// Buffers are the buffers that all sessions of a proxy share: for reading, and for local replies. Its methods are safe
// for concurrent use.
type Buffers struct{ narrow, wide, replies sync.Pool }

// NewBuffers makes the pools. They hold no memory before their first use.
func NewBuffers() *Buffers {
	return &Buffers{
		narrow:  sync.Pool{New: func() any { return new([BufferSize]byte) }},
		wide:    sync.Pool{New: func() any { return new([WideSize]byte) }},
		replies: sync.Pool{New: func() any { return new([replySize]byte) }},
	}
}

// GetReplies gives an empty slice with room for ReplyChunk bytes of replies and the row that fills them.
func (b *Buffers) GetReplies() []byte { return b.replies.Get().(*[replySize]byte)[:0] }

// PutReplies takes back a slice of GetReplies, unless the slice has grown. The caller must not use it afterwards.
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
