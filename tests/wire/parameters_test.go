package wire

import (
	"encoding/binary"
	"testing"
)

const (
	idsOf    = "SELECT * FROM next_snowflakes($1)"
	seriesOf = "SELECT next_snowflake(), next_snowflake()::text AS b FROM generate_series(1, $1)"

	int8OID, int2OID, int4OID, textOID = 20, 21, 23, 25
)

func int8Value(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
func int4Value(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func int2Value(n int16) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }

// runText binds n as text, runBinary in binary.
func runText(n string, formats ...int16) step {
	return say(BindValues("", "s", nil, values{[]byte(n)}, formats...), DescribePortal(""), Execute(""), Sync)
}

func runBinary(n []byte, formats ...int16) step {
	return say(BindValues("", "s", []int16{1}, values{n}, formats...), DescribePortal(""), Execute(""), Sync)
}

func prepare(sql string, types ...uint32) step {
	return say(Parse("s", sql, types...), DescribeStatement("s"), Sync)
}

func TestParametersAreReadAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "text", steps: []step{prepare(idsOf), runText("3"), runText("1", 1), runText("20")}, local: 24},
		{name: "binary", steps: []step{prepare(idsOf), runBinary(int8Value(3)), runBinary(int8Value(2), 1)}, local: 5},
		{name: "generate_series has int4", steps: []step{
			prepare(seriesOf), runText("3"), runBinary(int4Value(2), 1, 0), runBinary(int8Value(2)),
		}, local: 10},
		{name: "declared int8", steps: []step{
			prepare(seriesOf, int8OID), runBinary(int8Value(2)), runText("2"),
		}, local: 8},
		{name: "declared int4", steps: []step{
			prepare(idsOf, int4OID), runBinary(int4Value(2)), runText("2"), runBinary(int8Value(2)),
		}, local: 4},
		{name: "declared int2", steps: []step{
			prepare(idsOf, int2OID), runBinary(int2Value(2)), runText("2"), runText("70000"),
		}, local: 4},
		{name: "declared text", steps: []step{prepare(idsOf, textOID), runText("2")}},
		{name: "declared 0 is not declared", steps: []step{
			prepare(idsOf, 0), runText("2"), prepare("SELECT 1"),
		}, local: 2},
		{name: "not described, so of unknown type", steps: []step{
			say(Parse("s", idsOf), Sync), runText("2"), say(DescribeStatement("s"), Sync), runText("2"),
		}, local: 2},
		{name: "out of range", steps: []step{
			prepare(idsOf), runText("0"), runText("-1"), runBinary(int8Value(0)),
			runBinary(int8Value(-1)), runText("2"),
		}, local: 2},
		{name: "too many", steps: []step{prepare(idsOf), runText("10000"), runText("10001")}, local: 10000},
		{name: "too many in two columns", steps: []step{
			prepare(seriesOf), runText("5000"), runText("5001"),
		}, local: 10000},
		{name: "NULL", steps: []step{prepare(idsOf), runBinary(nil), runText("2")}, local: 2},
		{name: "NULL of a series", steps: []step{prepare(seriesOf), runBinary(nil), runText("2")}, local: 4},
		{name: "not a number, or not plainly one", steps: []step{
			prepare(idsOf), runText("x"), runText(""), runText(" 3 "), runText("+3"), runText("3.0"), runText("0x3"),
			runText("1_0"), runText("99999999999999999999"), runText("007"),
		}, local: 7},
		{name: "binary of the wrong length", steps: []step{
			prepare(idsOf), runBinary([]byte{1}), runBinary(int4Value(1)), runBinary(nil),
		}},
		{name: "parameters missing, or too many", steps: []step{
			prepare(idsOf), say(Bind("", "s"), Execute(""), Sync),
			say(BindValues("", "s", nil, values{[]byte("1"), []byte("2")}), Execute(""), Sync),
			say(BindValues("", "s", []int16{0, 0}, values{[]byte("1")}), Execute(""), Sync),
			say(BindValues("", "s", []int16{7}, values{[]byte("1")}), Execute(""), Sync),
		}},
		{name: "parameters of a statement that has none", steps: []step{
			prepare(ours), runText("1"), say(BindValues("", "s", []int16{0}, nil), Execute(""), Sync),
			say(BindValues("", "s", []int16{0, 1}, nil), Execute(""), Sync),
		}, local: 1},
		{name: "declared parameters of a statement that has none", steps: []step{
			prepare(ours, int8OID), runText("1"), say(Bind("", "s"), Execute(""), Sync),
		}},
		{name: "two declared, one used", steps: []step{
			prepare(idsOf, int8OID, int8OID),
			say(BindValues("", "s", nil, values{[]byte("1"), []byte("2")}), Execute(""), Sync), runText("1"),
		}},
		{name: "unnamed", steps: []step{
			say(Parse("", idsOf), BindValues("", "", nil, values{[]byte("2")}), DescribePortal(""), Execute(""), Sync),
			say(BindValues("", "", nil, values{[]byte("2")}), Execute(""), Sync),
			say(DescribeStatement(""), Sync), say(BindValues("", "", nil, values{[]byte("2")}), Execute(""), Sync),
		}, local: 2},
		{name: "a parameter in a simple Query", steps: []step{say(Query(idsOf)), say(Query(ours))}, local: 1},
		{name: "max_rows", steps: []step{
			prepare(idsOf), say(BindValues("", "s", nil, values{[]byte("3")}), ExecuteMax("", 3), Sync),
			say(BindValues("", "s", nil, values{[]byte("3")}), ExecuteMax("", 4), Execute(""), Sync),
		}, local: 3},
	})
}

func TestResultsComeInTheFormatsOfPostgreSQL(t *testing.T) {
	t.Parallel()
	two := "SELECT next_snowflake(), next_snowflake()::text"
	checkAll(t, []conversation{
		{name: "text and binary", steps: []step{
			together(request(ours, 0), Sync), together(request(ours, 1), Sync), together(request(ours), Sync),
		}, local: 3},
		{name: "one for all columns", steps: []step{
			together(request(two, 1), Sync), together(request(two, 0), Sync), together(request(two), Sync),
		}, local: 6},
		{name: "one per column", steps: []step{
			together(request(two, 1, 0), Sync), together(request(two, 0, 1), Sync), together(request(two, 1, 1), Sync),
			together(request(two, 0, 0), Sync),
		}, local: 8},
		{name: "more than columns", steps: []step{
			together(request(ours, 0, 0), Sync), together(request(two, 0, 0, 0), Sync),
		}},
		{name: "unknown", steps: []step{
			together(request(ours, 2), Sync), together(request(ours, -1), Sync), together(request(two, 0, 2), Sync),
		}},
		{name: "Describe twice tells the formats of the Bind", steps: []step{
			say(Query("BEGIN")), together(request(ours, 1), Sync), say(DescribePortal(""), Sync),
			say(Parse("", two), Bind("", "", 1, 0), Execute(""), DescribePortal(""), Sync),
		}, local: 1},
		{name: "of a named statement", steps: []step{
			say(Parse("s", two), DescribeStatement("s"), Sync),
			say(Bind("", "s", 1), DescribePortal(""), Execute(""), Sync),
			say(Bind("", "s", 0, 1), DescribePortal(""), Execute(""), Sync),
		}, local: 4},
	})
}
