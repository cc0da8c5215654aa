package segment

import (
	"context"
	"errors"
)

// maxBlock is the size of the largest fetch, in numbers.
const maxBlock = 1_000_000

// Request asks for a block.
type Request struct {
	Origin string // of the row, and of Above
	Tag    string
	Size   int64 // numbers, 1 … maxBlock; the block has at least the row's step
	// the block begins here or later, because this process had the numbers before it; 0: it had none
	Above int64
	Raise bool // take a block even if the row is below Above; the caller has dropped its blocks
}

// Block is a clean acknowledgement: the numbers [First, Until) are this process's alone.
type Block struct {
	First, Until int64
	Step         int64 // of the row
	Before       int64 // max_id of the row before the fetch; below Request.Above the row has forgotten what it gave
}

// Row is one row of pgflurry.segment.
type Row struct {
	Tag  string
	Next int64 // max_id
	Step int64
}

var (
	// ErrUnknownTag: the tag has no row. It is a clean answer.
	ErrUnknownTag = errors.New("the tag has no row in pgflurry.segment")
	// ErrFellBack: max_id of the row is below Request.Above, and Request.Raise was not set. It is a clean answer:
	// nothing was taken.
	ErrFellBack = errors.New("the row has forgotten what it gave")
	// ErrExhausted: the tag has come to the end of bigint. It is a clean answer.
	ErrExhausted = errors.New("the tag has come to the end of bigint")
	// ErrElsewhere: the tags are in another database or table than the source believes. It is a clean answer: nothing
	// was taken. As the error of a Source it lasts until a look has found out where they are.
	ErrElsewhere = errors.New("the tags are in another database or table than before")
	// ErrResting: a fetch has failed; the next attempt comes later.
	ErrResting = errors.New("no block could be fetched")
	// ErrTooManyTags: there is no room for a tag that was not used before.
	ErrTooManyTags = errors.New("too many tags are in use")
	// ErrEnded: Run has ended.
	ErrEnded = errors.New("no numbers are given any more")
)

// Store is the table as one goroutine sees it.
//
// An error that wraps ErrUnknownTag, ErrFellBack, ErrExhausted or ErrElsewhere is a clean answer. Every other error of
// Fetch means that the outcome is unknown: a block may have been taken, may not have, or may still be. Every call ends
// when its context does.
type Store interface {
	// Fetch takes a block from the row of a tag. With ErrFellBack it also returns Block.Before and Block.Step.
	Fetch(context.Context, Request) (Block, error)
	// Rows returns the rows of the tags that have one. A row is of that origin, or the error is ErrElsewhere.
	Rows(ctx context.Context, origin string, tags []string) ([]Row, error)
	// Close ends the connection, if there is one. A later call opens another.
	Close()
}
