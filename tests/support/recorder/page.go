package recorder

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"slices"
)

// page is a set of numbers below 4096: a sorted list, or all bits once they take less.
type page struct {
	few  []uint16
	bits *[words]uint64
}

const (
	words   = 1 << pageBits / 64
	mostFew = words * 8 / 2 // as many numbers as fit into the bytes of the bits
)

// size returns the bytes that the numbers take.
func (p *page) size() int64 {
	if p.bits != nil {
		return words * 8
	}
	return int64(2 * cap(p.few))
}

// add reports whether n is new.
func (p *page) add(n uint16) bool {
	if p.bits == nil {
		at := len(p.few) // numbers mostly come in order, so search from the end
		if at > 0 && n <= p.few[at-1] {
			var there bool
			if at, there = slices.BinarySearch(p.few, n); there {
				return false
			}
		}
		if len(p.few) < mostFew {
			p.few = slices.Insert(p.few, at, n)
			return true
		}
		p.bits = new([words]uint64)
		for _, m := range p.few {
			p.bits[m/64] |= 1 << (m % 64)
		}
		p.few = nil
	}
	word, bit := &p.bits[n/64], uint64(1)<<(n%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// header precedes a page in a file. Count is 0 if bits follow, else the count of numbers.
type header struct {
	Page  uint32
	Count uint16
}

func (c *chapter) write(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for number, p := range c.pages {
		if err := p.write(w, number); err != nil {
			f.Close()
			return err
		}
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (p *page) write(w io.Writer, number uint32) error {
	err := binary.Write(w, binary.LittleEndian, header{Page: number, Count: uint16(len(p.few))})
	if err != nil {
		return err
	}
	if p.bits != nil {
		return binary.Write(w, binary.LittleEndian, p.bits)
	}
	return binary.Write(w, binary.LittleEndian, p.few)
}

func (c *chapter) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		var h header
		switch err := binary.Read(r, binary.LittleEndian, &h); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		p := &page{}
		var into any
		if h.Count > 0 {
			p.few = make([]uint16, h.Count)
			into = p.few
		} else {
			p.bits = new([words]uint64)
			into = p.bits
		}
		if err := binary.Read(r, binary.LittleEndian, into); err != nil {
			return err
		}
		c.pages[h.Page] = p
		c.size += pageCost + p.size()
	}
}
