package frame

// Replies are local replies to a client that are not yet written. They have a buffer only between the first one and
// their writing. One goroutine at a time may use them.
type Replies struct {
	Out      []byte // nil: none
	Buffers  *Buffers
	ToClient *Writer
}

// Gather makes room for a reply. When the replies before it fill a chunk, it writes them first.
func (r *Replies) Gather() error {
	if len(r.Out) >= ReplyChunk {
		if err := r.Flush(); err != nil {
			return err
		}
	}
	if r.Out == nil {
		r.Out = r.Buffers.GetReplies()
	}
	return nil
}

// Flush writes the replies.
func (r *Replies) Flush() error {
	if r.Out == nil {
		return nil
	}
	defer r.Drop()
	if len(r.Out) == 0 {
		return nil
	}
	return r.ToClient.Write(r.Out)
}

// Drop forgets the replies, and gives their buffer back.
func (r *Replies) Drop() {
	if r.Out != nil {
		r.Buffers.PutReplies(r.Out)
		r.Out = nil
	}
}
