package acknowledge

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// An exchange is everything that the server sent from the first byte after our Sync to ReadyForQuery. It includes
// messages that the server sent unasked before that.
type exchange struct {
	results []result
	notices []*pgconn.Notice
	failure *pgconn.PgError // the first ErrorResponse
	status  byte            // of ReadyForQuery: I, T or E
}

// A result is the answer to one statement.
type result struct {
	tag  string
	rows [][]value
}

// Every write is one pipeline: BEGIN, the settings, the write, COMMIT, and one Sync.
var acknowledgedTags = []string{"BEGIN", "SELECT 1", "SELECT 1", "COMMIT"}

const writeAt = 2 // the write's place among the results

// acknowledge returns the row of a cleanly acknowledged write. Any other exchange is an error: the outcome is unknown.
// A notice is the important case. If PostgreSQL cancels a commit's wait for the synchronous standby, a notice is the
// only sign.
func acknowledge(x exchange) ([]value, error) {
	if x.failure != nil {
		return nil, x.failure
	}
	if len(x.notices) > 0 {
		return nil, fmt.Errorf("the server added a notice to its answer: %s: %s (SQLSTATE %s)",
			x.notices[0].SeverityUnlocalized, x.notices[0].Message, x.notices[0].Code)
	}
	if x.status != 'I' {
		return nil, fmt.Errorf("the server ended in transaction status %q, expected 'I'", x.status)
	}
	tags := make([]string, len(x.results))
	for i, r := range x.results {
		tags[i] = r.tag
	}
	if !slices.Equal(tags, acknowledgedTags) {
		return nil, fmt.Errorf("the server completed %q, expected %q", tags, acknowledgedTags)
	}
	if rows := len(x.results[writeAt].rows); rows != 1 {
		return nil, fmt.Errorf("the write answered with %d rows, expected 1", rows)
	}
	return x.results[writeAt].rows[0], nil
}
