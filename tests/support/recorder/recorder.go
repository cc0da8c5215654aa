package recorder

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

const (
	pageBits    = 12 // IDs on a page
	chapterBits = 32 // IDs in a chapter
)

// Recorder is a set of IDs. Safe for concurrent use. Make it with New.
type Recorder struct {
	dir    string
	memory int64

	mu       sync.Mutex
	chapters map[int64]*chapter
	written  map[int64]bool // chapters in files
	turn     int64          // counts uses of chapters
	used     int64          // bytes, as chapter.size counts them
	ids      int64
}

// chapter is the pages of 2^32 IDs.
type chapter struct {
	pages map[uint32]*page
	size  int64
	used  int64 // turn at the last use
}

// pageCost is the size of a page without its numbers, in bytes. It counts the struct, the slot in the map, and the
// header of the slice or bits.
const pageCost = 96

// New makes an empty recorder. It keeps about this number of bytes in memory, and writes the rest to files in dir,
// which must exist. With an empty dir it keeps everything in memory.
func New(dir string, memory int64) *Recorder {
	return &Recorder{dir: dir, memory: memory, chapters: map[int64]*chapter{}, written: map[int64]bool{}}
}

// Twice is the error for an ID that came before.
type Twice struct{ ID int64 }

func (t *Twice) Error() string {
	return fmt.Sprintf("ID %d came twice (in the default layout: tick %d, worker %d, sequence %d)",
		t.ID, t.ID>>22, t.ID>>12&1023, t.ID&4095)
}

// Add records IDs. An ID that came before gives a *Twice, and the IDs before it are recorded. Any other error means an
// ID that is none, or a file that cannot be written or read.
func (r *Recorder) Add(ids ...int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if id <= 0 {
			return fmt.Errorf("%d is no ID: IDs are positive", id)
		}
		c, err := r.open(id >> chapterBits)
		if err != nil {
			return err
		}
		number := uint32(id >> pageBits & (1<<(chapterBits-pageBits) - 1))
		p := c.pages[number]
		if p == nil {
			p = &page{}
			c.pages[number] = p
			r.grow(c, pageCost)
		}
		before := p.size()
		if !p.add(uint16(id & (1<<pageBits - 1))) {
			return &Twice{ID: id}
		}
		r.grow(c, p.size()-before)
		r.ids++
	}
	return nil
}

// Len returns the number of IDs.
func (r *Recorder) Len() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids
}

func (r *Recorder) grow(c *chapter, bytes int64) {
	c.size += bytes
	r.used += bytes
}

// open returns a chapter, from its file if it has one. It first makes room.
func (r *Recorder) open(number int64) (*chapter, error) {
	r.turn++
	c := r.chapters[number]
	if c == nil {
		if err := r.makeRoom(); err != nil {
			return nil, err
		}
		c = &chapter{pages: map[uint32]*page{}}
		if r.written[number] {
			if err := c.read(r.file(number)); err != nil {
				return nil, fmt.Errorf("reading back recorded IDs: %w", err)
			}
			if err := os.Remove(r.file(number)); err != nil {
				return nil, err
			}
			delete(r.written, number)
			r.used += c.size
		}
		r.chapters[number] = c
	}
	c.used = r.turn
	return c, nil
}

// makeRoom writes chapters to files until the rest fits. It begins with the chapter that was not touched for longest.
func (r *Recorder) makeRoom() error {
	for r.dir != "" && r.used > r.memory && len(r.chapters) > 0 {
		oldest := int64(-1)
		for number, c := range r.chapters {
			if oldest < 0 || c.used < r.chapters[oldest].used {
				oldest = number
			}
		}
		c := r.chapters[oldest]
		if err := c.write(r.file(oldest)); err != nil {
			return fmt.Errorf("writing recorded IDs to a file: %w", err)
		}
		r.written[oldest] = true
		r.used -= c.size
		delete(r.chapters, oldest)
	}
	return nil
}

func (r *Recorder) file(number int64) string {
	return filepath.Join(r.dir, fmt.Sprintf("%08x.ids", number))
}

// Close removes the files.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for number := range r.written {
		if err := os.Remove(r.file(number)); err != nil {
			return err
		}
		delete(r.written, number)
	}
	return nil
}
