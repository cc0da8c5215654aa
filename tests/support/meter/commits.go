package meter

import (
	"fmt"
	"sync"
	"time"
)

// Commits is a ledger of writes. Each write has a number and one of the states below. Safe for concurrent use.
type Commits struct {
	mu      sync.Mutex
	entries []entry // by number
	hosts   []string
	checked int // Checks have already compared the writes before this one twice
	last    int // number of writes begun at the last Check
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
	unknown                   // it has ended, and no answer tells whether it was done
	found                     // unknown, but the table has it
	refused                   // an error says that it was not done
	acknowledged              // with a clean answer
	noticed                   // with a notice beside the answer
	lost                      // acknowledged, and not in the table
	noticedLost               // noticed, and not in the table
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

// Unknown returns the number of writes whose outcome no client knows.
func (c Counts) Unknown() int { return c.Begun - c.Acknowledged - c.Noticed - c.Refused }

// Begin starts the next write and returns its number.
func (c *Commits) Begin() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, entry{})
	c.counts.Begun++
	return int64(len(c.entries) - 1)
}

// Told records the ID that the writer got. The write may still not be acknowledged.
func (c *Commits) Told(number, id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[number].id = id
}

// Unknown records that the write has ended and its writer does not know the outcome.
func (c *Commits) Unknown(number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[number].state = unknown
}

// Refused records an error which means that the write was not done, and never will be.
func (c *Commits) Refused(number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[number].state = refused
	c.counts.Refused++
}

// Acknowledged records that a host acknowledged the write with this ID. clean is false if there was a notice.
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

// Counts returns the present sums.
func (c *Commits) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// A Row is a row of the table.
type Row struct{ Number, ID int64 }

// A Loss is an acknowledged commit that is not in the table.
type Loss struct {
	Row
	Host  string // that acknowledged the commit
	At    time.Time
	Clean bool // acknowledged without a notice
}

// From returns the first number whose row the next Check needs. That Check compares the writes since the Check before
// the last one. If all is true, it starts at the beginning.
func (c *Commits) From(all bool) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if all {
		c.checked = 0
	}
	return int64(c.checked)
}

// Check compares acknowledged commits with the rows of the table from number From on, as of the time of reading. A
// later acknowledgement is for the next Check. It returns the losses that no earlier Check has returned, and the rows
// whose writer never gets their ID.
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
		case e.state == open: // its writer may still get the ID
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
