package draw

// Run is a run of consecutive IDs or numbers: First, First+1, … First+Count-1.
type Run struct {
	First int64
	Count int
}

// fewRuns is for how many runs Runs keeps its memory.
const fewRuns = 64

// Runs hands out the numbers of several runs in order. The zero value has none.
type Runs struct {
	all  []Run
	next int
}

// Reset forgets all numbers.
func (r *Runs) Reset() {
	r.next = 0
	if r.all = r.all[:0]; cap(r.all) > fewRuns {
		r.all = nil
	}
}

// Add appends a run.
func (r *Runs) Add(first int64, count int) {
	if n := len(r.all); n > 0 && r.all[n-1].First+int64(r.all[n-1].Count) == first {
		r.all[n-1].Count += count
		return
	}
	r.all = append(r.all, Run{first, count})
}

// Take gives the next number. There must be one.
func (r *Runs) Take() int64 {
	for r.all[r.next].Count == 0 {
		r.next++
	}
	at := &r.all[r.next]
	at.First++
	at.Count--
	return at.First - 1
}

// Consecutive says how many of the next n numbers follow each other without a gap, and which is the first.
func (r *Runs) Consecutive(n int) (first int64, count int) {
	for r.next < len(r.all)-1 && r.all[r.next].Count == 0 {
		r.next++
	}
	at := &r.all[r.next]
	return at.First, min(n, at.Count)
}

// Skip takes the next n numbers, which must be consecutive.
func (r *Runs) Skip(n int) {
	r.all[r.next].First += int64(n)
	r.all[r.next].Count -= n
}
