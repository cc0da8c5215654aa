package idserver

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pgflurry/internal/report"
)

// Table is a table of the console: rows of text, each as long as Columns.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Topic is a table of the console that another package makes.
type Topic struct {
	// Tells says in SHOW HELP what the table has.
	Tells string
	// Table makes the table, at most a hundred times a second for all clients that ask for it.
	Table func() Table
}

// console has the tables of SHOW, for all sessions.
type console struct {
	topics   map[string]Topic // by the word, in upper case
	tables   map[string]*report.Recent[Table]
	sessions func(user string) Table // as a user may see it
}

// tableEvery is the shortest time between two tables of a topic.
const tableEvery = 10 * time.Millisecond

func newConsole(topics map[string]Topic, sessions func(user string) Table) *console {
	c := &console{topics, make(map[string]*report.Recent[Table], len(topics)), sessions}
	for word, topic := range topics {
		c.tables[word] = report.NewRecent(tableEvery, topic.Table)
	}
	return c
}

// Show implements state.Console.
func (c *console) Show(word, user string) (columns []string, rows [][]string, known bool) {
	var t Table
	switch word = strings.ToUpper(word); word {
	case "HELP":
		t = c.help()
	case "SESSIONS":
		t = c.sessions(user)
	default:
		table := c.tables[word]
		if table == nil {
			return nil, nil, false
		}
		t = table.Anew()
	}
	return t.Columns, t.Rows, true
}

// help lists what this database answers.
func (c *console) help() Table {
	t := Table{Columns: []string{"statement", "answer"}, Rows: [][]string{
		{"SELECT next_snowflake()", "one ID"},
		{"SELECT next_snowflake() FROM generate_series(1, n)", "n IDs; n is 1 to 10000"},
		{"SELECT * FROM next_snowflakes(n)", "n IDs; n is 1 to 10000"},
		{"SELECT next_segment('tag')", "the next number of a tag"},
		{"SELECT * FROM next_segments('tag', n)", "n numbers of a tag; n is 1 to 10000"},
		{"SHOW SESSIONS", "who is logged in to this database"},
	}}
	for _, word := range slices.Sorted(maps.Keys(c.topics)) {
		t.Rows = append(t.Rows, []string{"SHOW " + word, c.topics[word].Tells})
	}
	t.Rows = append(t.Rows,
		[]string{"BEGIN, COMMIT, ROLLBACK, SAVEPOINT", "transactions, in which nothing is at stake"},
		[]string{"SET, RESET, SHOW, DISCARD", "settings, which nothing here depends on"},
		[]string{"DEALLOCATE", "statements that were prepared by the protocol"},
		[]string{"DECLARE, FETCH, CLOSE", "cursors, which go forward"},
		[]string{"SELECT 1, version(), current_user", "constants, and what drivers ask when they connect"},
	)
	return t
}
