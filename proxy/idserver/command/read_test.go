package command

import (
	"reflect"
	"testing"

	"pgflurry/proxy/statement"
)

// form is the form that the matcher finds in a text.
func form(t *testing.T, sql string) *statement.Form {
	t.Helper()
	f, ok := statement.Match([]byte(sql))
	if !ok {
		t.Fatalf("Match(%q) is false", sql)
	}
	return f
}

func TestReadKnowsEveryCommand(t *testing.T) {
	draw := Draw{form(t, "SELECT next_snowflake()")}
	for _, c := range []struct {
		sql  string
		want []Command
	}{
		{"", nil},
		{" ;; -- nothing\n; /* ; */", nil},
		{"SELECT next_snowflake()", []Command{draw}},
		{";SELECT next_snowflake() ; select /* \u00e9 */ 1; /* x */SELECT next_snowflake()-- \u00e9", []Command{
			draw, &Select{targets: []target{{
				label: anonymous, operands: []operand{{value: Value{oid: Int4, number: 1}}},
			}}}, draw,
		}},

		{"begin", []Command{Begin{}}},
		{"BEGIN WORK", []Command{Begin{}}},
		{"begin transaction isolation level repeatable read, read only deferrable", []Command{Begin{false, []Setting{
			{"transaction_isolation", "repeatable read"},
			{"transaction_read_only", "on"},
			{"transaction_deferrable", "on"},
		}}}},
		{"START TRANSACTION READ WRITE", []Command{Begin{true, []Setting{{"transaction_read_only", "off"}}}}},
		{"COMMIT; end; commit work; end transaction", []Command{Commit{}, Commit{}, Commit{}, Commit{}}},
		{"ROLLBACK; abort work; rollback transaction", []Command{Rollback{}, Rollback{}, Rollback{}}},
		{`SAVEPOINT a; RELEASE A; release savepoint "A"; release savepoint`, []Command{
			Savepoint{"a"}, Release{"a"}, Release{"A"}, Release{"savepoint"},
		}},
		{"ROLLBACK TO a; rollback work to savepoint a", []Command{RollbackTo{"a"}, RollbackTo{"a"}}},

		{"SET x = 1, -2.50, 'a''b', on, \"Q\", 007", []Command{
			Set{Name: "x", Values: []string{"1", "-2.50", "a'b", "on", "Q", "7"}},
		}},
		{"SET SESSION a.B TO DEFAULT", []Command{Set{Name: "a.b", Default: true}}},
		{"set local x to e'\\x41\\n'\n' '", []Command{Set{Name: "x", Values: []string{"A\n "}, Local: true}}},
		{"set time zone interval '+00:00' hour to minute; SET TIME ZONE INTERVAL '-05:30' HOUR TO MINUTE", []Command{
			Set{Name: "timezone", Values: []string{"<+00>-00"}},
			Set{Name: "timezone", Values: []string{"<-05:30>+05:30"}},
		}},
		{"SET TIME ZONE 'UTC'; SET LOCAL TIME ZONE LOCAL; set time zone -3.5", []Command{
			Set{Name: "timezone", Values: []string{"UTC"}},
			Set{Name: "timezone", Default: true, Local: true},
			Set{Name: "timezone", Values: []string{"-3.5"}},
		}},
		{"SET NAMES 'utf8'; SET NAMES; SET NAMES DEFAULT", []Command{
			Set{Name: "client_encoding", Values: []string{"utf8"}},
			Set{Name: "client_encoding", Default: true},
			Set{Name: "client_encoding", Default: true},
		}},
		{"SET SCHEMA 'a'; SET ROLE NONE; SET SESSION AUTHORIZATION DEFAULT", []Command{
			Set{Name: "search_path", Values: []string{"a"}},
			Set{Name: "role", Values: []string{"none"}},
			Set{Name: "session_authorization", Default: true},
		}},
		{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", []Command{SetTransaction{Modes: []Setting{
			{"transaction_isolation", "serializable"},
		}}}},
		{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", []Command{SetTransaction{true, []Setting{
			{"default_transaction_read_only", "on"},
		}}}},
		{"RESET ALL; RESET X; RESET TIME ZONE; RESET SESSION AUTHORIZATION", []Command{
			Reset{All: true}, Reset{Name: "x"}, Reset{Name: "timezone"}, Reset{Name: "session_authorization"},
		}},
		{"SHOW ALL; SHOW help; SHOW TIME ZONE; SHOW TRANSACTION ISOLATION LEVEL; SHOW a.b", []Command{
			Show{All: true},
			Show{Name: "help"},
			Show{Name: "timezone"},
			Show{Name: "transaction_isolation"},
			Show{Name: "a.b"},
		}},

		{"DISCARD ALL; DISCARD TEMPORARY", []Command{Discard{"ALL"}, Discard{"TEMP"}}},
		{"DEALLOCATE ALL; DEALLOCATE PREPARE ALL; DEALLOCATE a; DEALLOCATE PREPARE a; DEALLOCATE PREPARE", []Command{
			Deallocate{All: true},
			Deallocate{All: true},
			Deallocate{Name: "a"},
			Deallocate{Name: "a"},
			Deallocate{Name: "prepare"},
		}},
		{"DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT next_snowflake();", []Command{
			Declare{"c", true, draw},
		}},
		{"FETCH c; FETCH NEXT FROM c; FETCH 5 c; FETCH ALL IN c; FETCH FORWARD c; FETCH FORWARD ALL FROM c", []Command{
			Fetch{"c", 1},
			Fetch{"c", 1},
			Fetch{"c", 5},
			Fetch{"c", AllRows},
			Fetch{"c", 1},
			Fetch{"c", AllRows},
		}},
		{"CLOSE c; CLOSE ALL; UNLISTEN *; UNLISTEN x", []Command{
			Close{Name: "c"}, Close{All: true}, Unlisten{}, Unlisten{},
		}},
	} {
		got, err := Read([]byte(c.sql))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Read(%q) = %+v, %v; want %+v", c.sql, got, err, c.want)
		}
	}
}
