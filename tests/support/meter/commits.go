package meter

import (
	"fmt"
	"sync"
	"time"
)

// Commits is the ledger of writes: each has a number of its own, and one of these ends. Safe for concurrent use.
type Commits struct {
	mu      sync.Mutex
	entries []entry // by number
	hosts   []string
	checked int // those before were compared by an earlier Check, and by the one after it
	last    int // how many had begun at the last Check
	counts  Counts
}

type entry struct {
	id    int64
	at    time.Time
	host  uint32
	state state
}

type state uint8

const (
	open         state = iota // under way
	unknown                   // it has ended without an answer that tells what happened
	found                     // the same, but the table has it
	refused                   // there was an error that says that nothing was done
	acknowledged              // clean
	noticed                   // an acknowledgement with a notice beside it
	lost                      // acknowledged, and missing
	noticedLost               // noticed, and missing
)

// Counts sums up the ledger.
type Counts struct {
	Begun        int `json:"begun"`
	Acknowledged int `json:"acknowledged"`
	Noticed      int `json:"acknowledgedWithNotice"`
	Refused      int `json:"refused"`
	Lost         int `json:"acknowledgedAndLost"`
	NoticedLost  int `json:"acknowledgedWithNoticeAndLost"`
}

// Unknown are those whose outcome no client knows.
func (c Counts) Unknown() int { return c.Begun - c.Acknowledged - c.Noticed - c.Refused }

// Begin gives the next write its number.
func (c *Commits) Begin() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, entry{})
	c.counts.Begun++
	return int64(len(c.entries) - 1)
}

// Told tells which ID the writer was given. It may be that the write is never acknowledged.
func (c *Commits) Told(number, id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[number].id = id
}

// Unknown tells that the write has ended, and its writer does not know what happened.
func (c *Commits) Unknown(number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[number].state = unknown
}

// Refused tells that the server said an error which means that the write was not done, and never will be.
func (c *Commits) Refused(number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[number].state = refused
	c.counts.Refused++
}

// Acknowledged tells that the write with this ID was, by that host. Without a clean acknowledgement there was a notice.
func (c *Commits) Acknowledged(number, id int64, host string, at time.Time, clean bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &c.entries[number]
	e.id, e.at, e.host, e.state = id, at, c.host(host), acknowledged
	if clean {
		c.counts.Acknowledged++
	} else {
		e.state = noticed
		c.counts.Noticed++
	}
}

func (c *Commits) host(name string) uint32 {
	for i, known := range c.hosts {
		if known == name {
			return uint32(i)
		}
	}
	c.hosts = append(c.hosts, name)
	return uint32(len(c.hosts) - 1)
}

// Counts are those of now.
func (c *Commits) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// A Row is one of the table.
type Row struct{ Number, ID int64 }

// A Loss is a commit that was acknowledged and is gone.
type Loss struct {
	Row
	Host  string // that acknowledged it
	At    time.Time
	Clean bool // without a notice
}

// From is the first number that the next Check needs rows of: it compares what was written since the Check before the
// last one. All is from the beginning.
func (c *Commits) From(all bool) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if all {
		c.checked = 0
	}
	return int64(c.checked)
}

// Check compares acknowledged commits with the rows of the table whose numbers are From or greater, as read at a time:
// what was acknowledged later is left to the next one. It returns the losses that no earlier Check has told, and the
// rows whose writer never learns their ID.
func (c *Commits) Check(rows []Row, read time.Time) (losses []Loss, untold []Row, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there := make(map[int64]bool, len(rows))
	for _, row := range rows {
		if row.Number < 0 || row.Number >= int64(len(c.entries)) {
			return nil, nil, fmt.Errorf("the table has row %d, and only %d were begun", row.Number, len(c.entries))
		}
		if there[row.Number] {
			return nil, nil, fmt.Errorf("the table has row %d twice", row.Number)
		}
		there[row.Number] = true
		switch e := &c.entries[row.Number]; {
		case e.state == refused:
			return nil, nil, fmt.Errorf("row %d is in the table, and its writer was told that it is not", row.Number)
		case e.state == open: // its writer is told yet
		case e.state == unknown && e.id == 0:
			e.id, e.state = row.ID, found
			untold = append(untold, row)
		case e.id != row.ID:
			return nil, nil, fmt.Errorf("row %d has ID %d in the table, and its writer got %d",
				row.Number, row.ID, e.id)
		}
	}
	for number := c.checked; number < len(c.entries); number++ {
		e := &c.entries[number]
		told := e.state == acknowledged || e.state == noticed
		if there[int64(number)] || !told || !e.at.Before(read) {
			continue
		}
		losses = append(losses, Loss{Row{int64(number), e.id}, c.hosts[e.host], e.at, e.state == acknowledged})
		if e.state == acknowledged {
			e.state = lost
			c.counts.Lost++
		} else {
			e.state = noticedLost
			c.counts.NoticedLost++
		}
	}
	c.checked, c.last = c.last, len(c.entries)
	return losses, untold, nil
}
