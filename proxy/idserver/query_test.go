package idserver

import (
	"strings"
	"testing"
)

func TestStatementsOfAQueryAreCarriedOutOneAfterTheOther(t *testing.T) {
	for _, c := range []struct{ sql, heard string }{
		{"SELECT next_snowflake()", "<next_snowflake> (1) [SELECT 1] ZI"},
		{"SELECT next_snowflake(), next_snowflake()::text AS t", "<next_snowflake,t> (1,2) [SELECT 1] ZI"},
		{"SELECT * FROM next_snowflakes(3)", "<next_snowflakes> (1) (2) (3) [SELECT 3] ZI"},
		{"SELECT next_segment('order')", "<next_segment> (1) [SELECT 1] ZI"},
		{"SELECT next_segment('nobody')", "<next_segment> ERROR:57P03 ZI"},
		{"", "empty ZI"},
		{" ; ", "empty ZI"},
		{"SELECT 1", "<?column?> (1) [SELECT 1] ZI"},
		{"SELECT 1; SELECT 2", "<?column?> (1) [SELECT 1] <?column?> (2) [SELECT 1] ZI"},
		{"SELEC", "ERROR:42601 ZI"},
		{"SELECT * FROM orders", "ERROR:0A000 ZI"},
		{"SELECT next_segment($1)", "ERROR:42P02 ZI"},
		{"BEGIN; SELECT 1", "[BEGIN] <?column?> (1) [SELECT 1] ZT"},
		{"BEGIN; BEGIN; COMMIT", "[BEGIN] WARNING:25001 [BEGIN] [COMMIT] ZI"},
		{"COMMIT", "WARNING:25P01 [COMMIT] ZI"},
		{"ROLLBACK", "WARNING:25P01 [ROLLBACK] ZI"},
		{"BEGIN; SELECT current_setting('no.such'); SELECT 1", "[BEGIN] <current_setting> ERROR:42704 ZE"},
		{"SAVEPOINT a", "ERROR:25P01 ZI"},
		{"BEGIN; SAVEPOINT a; ROLLBACK TO b", "[BEGIN] [SAVEPOINT] ERROR:3B001 ZE"},
		{"SET a.b = 'c'; SHOW a.b", "[SET] <a.b> (c) [SHOW] ZI"},
		{"SHOW nonsense", "ERROR:42704 ZI"},
		{"SHOW lease", "<worker> (7) [SHOW] ZI"},
		{"SELECT current_user, pg_backend_pid()", "<current_user,pg_backend_pid> (ann,4711) [SELECT 1] ZI"},
		{"SET application_name TO 'x'", "[SET] application_name=x ZI"},
		{"BEGIN; SET application_name TO 'x'; ROLLBACK", "[BEGIN] [SET] [ROLLBACK] application_name=x ZI"},
		{"DECLARE c CURSOR FOR SELECT 1", "ERROR:25P01 ZI"},
		{
			"BEGIN; DECLARE c CURSOR FOR SELECT * FROM next_snowflakes(3); FETCH 2 FROM c; FETCH c; FETCH c; CLOSE c",
			"[BEGIN] [DECLARE CURSOR] <next_snowflakes> (1) (2) [FETCH 2] <next_snowflakes> (3) [FETCH 1] " +
				"<next_snowflakes> [FETCH 0] [CLOSE CURSOR] ZT",
		},
		{
			"DECLARE c CURSOR WITH HOLD FOR SELECT * FROM next_snowflakes(3); COMMIT; FETCH ALL c",
			"[DECLARE CURSOR] WARNING:25P01 [COMMIT] <next_snowflakes> (1) (2) (3) [FETCH 3] ZI",
		},
		{"VALUES (1); SELECT relname FROM pg_class WHERE oid=0", "<column1> (1) [SELECT 1] <relname> [SELECT 0] ZI"},
		{"SELECT oid, typname FROM pg_type WHERE false", "ERROR:0A000 ZI"},
		{
			"BEGIN; SAVEPOINT a; DECLARE c CURSOR FOR SELECT 1; ROLLBACK TO a; FETCH c",
			"[BEGIN] [SAVEPOINT] [DECLARE CURSOR] [ROLLBACK] ERROR:34000 ZE",
		},
		{
			"BEGIN; SAVEPOINT a; SAVEPOINT b; DECLARE c CURSOR FOR SELECT 1; RELEASE b; ROLLBACK TO a; FETCH c",
			"[BEGIN] [SAVEPOINT] [SAVEPOINT] [DECLARE CURSOR] [RELEASE] [ROLLBACK] ERROR:34000 ZE",
		},
		{
			"BEGIN; SAVEPOINT a; DECLARE c CURSOR FOR SELECT 1; RELEASE a; SAVEPOINT b; ROLLBACK TO b; FETCH c",
			"[BEGIN] [SAVEPOINT] [DECLARE CURSOR] [RELEASE] [SAVEPOINT] [ROLLBACK] <?column?> (1) [FETCH 1] ZT",
		},
		{
			"SET a.b TO 1; BEGIN; SAVEPOINT a; SET a.b TO 2; ROLLBACK TO a; SHOW a.b; SET LOCAL a.b TO 3; COMMIT; " +
				"SHOW a.b",
			"[SET] [BEGIN] [SAVEPOINT] [SET] [ROLLBACK] <a.b> (2) [SHOW] [SET] [COMMIT] <a.b> (2) [SHOW] ZI",
		},
		{"DISCARD ALL", "[DISCARD ALL] ZI"},
		{"SELECT 1; DISCARD ALL", "<?column?> (1) [SELECT 1] ERROR:25001 ZI"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			x := newTalk(t, testServer(t, &counter{}))
			x.says(x.query(c.sql), c.heard)
		})
	}
}

// For a table of another package the help has its description, not only its name.
func TestHelpSaysWhatEachTableHas(t *testing.T) {
	v := testServer(t, &counter{})
	x := newTalk(t, v)
	help := x.query("SHOW HELP")
	for word, topic := range v.settings.Console {
		if row := "(SHOW " + word + "," + topic.Tells + ")"; !strings.Contains(help, row) {
			t.Errorf("there is no row %s: %s", row, help)
		}
	}
}
