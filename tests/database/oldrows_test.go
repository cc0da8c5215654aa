//go:build full

package database

import (
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// oldRows returns the statements of the page that give old rows IDs.
func oldRows(t *testing.T) []string {
	t.Helper()
	before, _ := path(t)
	for _, statements := range before {
		if strings.HasPrefix(statements[0], "CREATE TABLE post ") {
			return statements
		}
	}
	t.Fatal("the page has no statements that give old rows IDs")
	return nil
}

func TestOldRowsGetIDsInTheOrderOfTheirTimeAsThePageSays(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	draw := func() int64 {
		tag, err := conn.Exec(server.Within(t), "EXECUTE draw")
		if err != nil {
			t.Fatal(err)
		}
		return tag.RowsAffected()
	}
	batches, draws := 0, 0
	for i, statement := range oldRows(t) {
		if statement != "EXECUTE draw;" {
			server.Do(t, conn, statement)
			if i == 1 { // Both tables are there. Keys are not in the order of the times, and 50 rows have each time.
				server.Do(t, conn, `INSERT INTO post (created_at)
					SELECT '2025-05-05'::timestamptz + n * 7919 % 500 * interval '1 s'
					FROM generate_series(1, 25000) AS n;
					INSERT INTO comment SELECT id, 'on ' || id FROM post`)
			}
			continue
		}
		if draws++; draws == 2 { // in the transaction, which has locked the table
			if n := draw(); n != 10 {
				t.Errorf("%d of 10 rows that came since get an ID", n)
			}
			continue
		}
		for draw() > 0 {
			batches++
		}
		const given = "SELECT md5(string_agg(concat(id, ' ', new_id, ' ', ctid), ',' ORDER BY id)) FROM post"
		before := server.Value[string](t, conn, given)
		if n := draw(); n != 0 || server.Value[string](t, conn, given) != before {
			t.Errorf("a further run changes %d rows", n)
		}
		server.Do(t, conn, `INSERT INTO post (created_at)
			SELECT now() - n * interval '1 s' FROM generate_series(1, 10) AS n`)
	}
	if batches < 3 || draws != 2 {
		t.Errorf("%d batches, and the page draws %d times", batches, draws)
	}
	server.Do(t, conn, "INSERT INTO post DEFAULT VALUES")
	const state = `SELECT format('%s rows, %s in order, %s times, %s comments', count(*),
			count(*) FILTER (WHERE p.number = p.due), count(DISTINCT created_at),
			(SELECT count(*) FROM comment JOIN post ON post.id = post_id WHERE comment.body = 'on ' || post.old_id))
		FROM (SELECT *, row_number() OVER (ORDER BY id) AS number,
			row_number() OVER (ORDER BY created_at, old_id) AS due FROM post) AS p`
	if got := server.Value[string](t, conn, state); got != "25011 rows, 25011 in order, 511 times, 25000 comments" {
		t.Errorf("after the statements: %s", got)
	}
}
