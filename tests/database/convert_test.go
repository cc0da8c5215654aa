package database

import (
	_ "embed"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// tables makes a table for each kind of column that can be converted, each with three rows.
//
//go:embed tables.sql
var tables string

// columns lists the columns of tables: table and column.
var columns = [][2]string{
	{"serial", "id"},
	{"always", "id"},
	{`"By Default"`, "The ID"},
	{"narrow", "id"},
	{"parted", "id"},
	{"divided", "id"},
}

// shape is everything that PostgreSQL's catalogs say of a column.
const shape = `SELECT concat_ws(' ',
		nullif(a.attidentity, ''),
		a.attnotnull,
		pg_get_expr(d.adbin, d.adrelid),
		pg_get_serial_sequence($1, $2),
		(SELECT concat_ws(' ', s.seqtypid::regtype, s.seqincrement, s.seqstart, s.seqmin, s.seqmax)
			FROM pg_sequence AS s
			WHERE s.seqrelid = pg_get_serial_sequence($1, $2)::regclass))
	FROM pg_attribute AS a
	LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE a.attrelid = $1::text::regclass AND a.attname = $2`

// insert adds a row to a table and returns the value of its column.
func insert(t *testing.T, conn *pgx.Conn, table, column string) int64 {
	t.Helper()
	return server.Value[int64](t, conn,
		"INSERT INTO "+table+" (n) VALUES (4) RETURNING "+pgx.Identifier{column}.Sanitize())
}

// convert calls one of the two functions for all tables.
func convert(t *testing.T, conn *pgx.Conn, function string, want bool) {
	t.Helper()
	query := "SELECT pgflurry." + function + "($1::text::regclass, $2)"
	for _, c := range columns {
		if got := server.Value[bool](t, conn, query, c[0], c[1]); got != want {
			t.Errorf("%s of %s returns %v, want %v", function, c[0], got, want)
		}
	}
}

func TestAColumnIsConvertedAboveEveryValueAndBackToWhatItWas(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, tables)
	before := make(map[string]string)
	for _, c := range columns {
		before[c[0]] = server.Value[string](t, conn, shape, c[0], c[1])
	}
	convert(t, conn, "convert_to_sequence", false)
	for range 2 { // there and back, twice
		server.Do(t, conn, "SELECT count(*) FROM next_snowflakes(20)") // beyond the sequences' values of this tick
		convert(t, conn, "convert_to_snowflake", true)
		convert(t, conn, "convert_to_snowflake", false)
		last := make(map[string]int64)
		for _, c := range columns {
			drawn := server.Value[int64](t, conn, "SELECT next_snowflake()")
			if last[c[0]] = insert(t, conn, c[0], c[1]); last[c[0]] <= drawn {
				t.Errorf("%s gets %d, want an ID above %d", c[0], last[c[0]], drawn)
			}
		}
		convert(t, conn, "convert_to_sequence", true)
		for _, c := range columns {
			if id := insert(t, conn, c[0], c[1]); id <= last[c[0]] || id > last[c[0]]+10 {
				t.Errorf("switched back %s gets %d, want the next of its series above %d", c[0], id, last[c[0]])
			}
			want := before[c[0]]
			if c[0] == "narrow" { // its sequence was an integer one
				want = "t nextval('narrow_id_seq'::regclass) public.narrow_id_seq bigint 1 1 1 9223372036854775807"
			}
			if is := server.Value[string](t, conn, shape, c[0], c[1]); is != want {
				t.Errorf("%s was %q and is %q", c[0], want, is)
			}
		}
	}
	server.Refused(t, conn, "428C9", "INSERT INTO always VALUES (1, 1)") // GENERATED ALWAYS stays
	const defaults = "SELECT count(*) FROM parted_high JOIN pg_attrdef ON adrelid = 'parted_high'::regclass"
	if n := server.Value[int](t, conn, defaults); n == 0 {
		t.Error("a partition has lost its default")
	}
}

func TestAColumnIsRefusedWithBothValuesWhereNewIDsCouldMeetOldOnes(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigserial PRIMARY KEY); INSERT INTO item VALUES (9000000000000000000)")
	err := server.Refused(t, conn, "55000", "SELECT pgflurry.convert_to_snowflake('item')")
	server.Says(t, err, "public.item.id holds 9000000000000000000, and next_snowflake() is at ", "Nothing is changed")
	server.Do(t, conn,
		"DELETE FROM item; SELECT pgflurry.convert_to_snowflake('item'); INSERT INTO item VALUES (9223372036854775807)")
	server.Says(t, server.Refused(t, conn, "55000", "SELECT pgflurry.convert_to_sequence('item')"),
		"holds 9223372036854775807, and sequence public.item_id_seq ends at 9223372036854775807", "Nothing is changed")
	if id := server.Value[string](t, conn, shape, "item", "id"); id[:18] != "t next_snowflake()" {
		t.Errorf("a refusal has changed the column: %s", id)
	}
	server.Do(t, conn, `CREATE TABLE downwards (id bigint PRIMARY KEY);
		CREATE SEQUENCE down INCREMENT BY -1 OWNED BY downwards.id;
		ALTER TABLE downwards ALTER id SET DEFAULT nextval('down'); SELECT pgflurry.convert_to_snowflake('downwards');
		INSERT INTO downwards DEFAULT VALUES`)
	server.Says(t, server.Refused(t, conn, "55000", "SELECT pgflurry.convert_to_sequence('downwards')"),
		"sequence public.down ends at", "INCREMENT BY 1")
}

func TestWhatIsNoBigserialOrIdentityColumnIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, tables+`; CREATE TABLE small (id smallserial, i serial, u uuid,
		g bigint GENERATED ALWAYS AS (1) STORED, plain bigint, seven bigint DEFAULT 7);
		CREATE VIEW seen AS SELECT * FROM serial; CREATE MATERIALIZED VIEW kept AS SELECT * FROM serial;
		CREATE TABLE child (parent integer REFERENCES serial)`)
	for call, want := range map[string][3]string{
		"'small'": {
			"42804", "column id of table public.small is smallint, and IDs need bigint", "ALTER COLUMN id TYPE bigint",
		},
		"'small', 'i'":     {"42804", "column i of table public.small is integer", "TYPE bigint"},
		"'small', 'u'":     {"42804", "is uuid", "TYPE bigint"},
		"'small', 'g'":     {"55000", "column g of table public.small is generated", "SET DEFAULT"},
		"'small', 'plain'": {"55000", "has no default", "SET DEFAULT"},
		"'small', 'seven'": {"55000", "has the default 7", "SET DEFAULT"},
		"'serial', 'none'": {"42703", "table public.serial has no column \"none\"", "case-sensitive"},
		"'seen'":           {"42809", "public.seen is not a table", "the table behind it"},
		"'kept'":           {"42809", "public.kept is not a table", "the table behind it"},
		"'serial_id_seq'":  {"42809", "is not a table", ""},
		"'parted_low'":     {"42809", "public.parted_low is a partition", "the whole table, public.parted"},
		"'serial'": {
			"42804", "columns that refer to public.serial.id are not bigint: public.child.parent",
			"Make them bigint first",
		},
		"NULL":           {"22023", "the table is null", "Name a table"},
		"'serial', NULL": {"22023", "the column is null", "Name a table"},
	} {
		for _, function := range []string{"convert_to_snowflake", "convert_to_sequence"} {
			server.Says(t, server.Refused(t, conn, want[0], "SELECT pgflurry."+function+"("+call+")"), function+": ",
				want[1], want[2])
		}
	}
	server.Do(t, conn, `CREATE SEQUENCE loose;
		CREATE TABLE shared (id bigint DEFAULT nextval('loose'));
		SELECT pgflurry.convert_to_snowflake('shared')`)
	server.Says(t, server.Refused(t, conn, "55000", "SELECT pgflurry.convert_to_sequence('shared')"), "has no sequence",
		"third argument")
	server.Do(t, conn,
		"SELECT pgflurry.convert_to_sequence('shared', 'id', 'loose'); INSERT INTO shared DEFAULT VALUES")
	server.Do(t, conn,
		"ALTER TABLE always ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; GRANT ALL ON SCHEMA public TO PUBLIC")
	other := server.Connect(t, server.Role(t, url, "owner_of_some"))
	server.Says(t, server.Refused(t, other, "42501", "SELECT pgflurry.convert_to_snowflake('always')"),
		"you are not the owner of table public.always", "Role ")
	server.Do(t, conn, "ALTER TABLE always OWNER TO owner_of_some")
	// rows that this role cannot see could be above
	server.Refused(t, other, "42501", "SELECT pgflurry.convert_to_snowflake('always')")
	server.Do(t, conn, "ALTER TABLE always NO FORCE ROW LEVEL SECURITY")
	server.Do(t, other, "SELECT pgflurry.convert_to_snowflake('always'); SELECT pgflurry.convert_to_sequence('always')")
}

func TestAConvertedColumnComesThroughDumpAndRestoreAndCanStillBeSwitchedBack(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, tables+
		"; CREATE TABLE item (id uuid DEFAULT pgflurry.uuidv7(), "+
		"label text DEFAULT snowflake_text(next_snowflake(), 19))")
	before := server.Value[string](t, conn, shape, "always", "id")
	convert(t, conn, "convert_to_snowflake", true)
	server.Do(t, conn, "INSERT INTO item DEFAULT VALUES")
	last := insert(t, conn, "always", "id")
	// A new function begins a second ahead of the clock. A copy could draw the rest of that tick, too.
	server.Do(t, conn,
		"DO $$ BEGIN WHILE (pgflurry.snowflake_clock()).ahead_ms >= 0 LOOP PERFORM pg_sleep(0.01); END LOOP; END $$")
	dump := filepath.Join(t.TempDir(), "dump")
	other := server.Database(t)
	for _, command := range []*exec.Cmd{
		exec.CommandContext(server.Within(t), server.Tool(t, "pg_dump"), "--format", "custom", "--file", dump, url),
		exec.CommandContext(server.Within(t), server.Tool(t, "pg_restore"), "--exit-on-error", "--dbname", other, dump),
	} {
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command.Path, err, out)
		}
	}
	restored := server.Connect(t, other)
	server.Refused(t, restored, "SNF03", "INSERT INTO always (n) VALUES (4)") // nobody has said what the copy is to be
	if err := migrations.Up(server.Within(t), other, migrations.Settings{JoinURL: url}); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
	for _, c := range columns {
		if id := insert(t, restored, c[0], c[1]); id <= last {
			t.Errorf("restored, %s gets %d, want an ID above %d", c[0], id, last)
		}
	}
	server.Do(t, restored, "INSERT INTO item DEFAULT VALUES")
	stops(t, restored, "serial_id_seq")
	stops(t, restored, "always_id_seq")
	convert(t, restored, "convert_to_sequence", true)
	if after := server.Value[string](t, restored, shape, "always", "id"); after != before {
		t.Errorf("switched back after the restore the column is %q, and was %q", after, before)
	}
}

func TestAColumnIsNotConvertedInASnapshotThatCouldMissValues(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigserial PRIMARY KEY)")
	server.Do(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM item")
	server.Do(t, other, "INSERT INTO item VALUES (9000000000000000000)") // conn cannot see this row
	server.Says(t, server.Refused(t, conn, "25000", "SELECT pgflurry.convert_to_snowflake('item')"), "repeatable read",
		"READ COMMITTED")
	server.Do(t, conn, "ROLLBACK")
	server.Refused(t, conn, "25000", "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT pgflurry.convert_to_sequence('item')")
}

func TestSwitchingBackLocksTheSequenceSoThatAnotherTableOfItGetsNoNumberTwice(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, `CREATE SEQUENCE loose; CREATE TABLE item (id bigint DEFAULT nextval('loose'));
		SELECT pgflurry.convert_to_snowflake('item'); INSERT INTO item VALUES (1)`)
	server.Do(t, conn, "BEGIN; SELECT pgflurry.convert_to_sequence('item', 'id', 'loose')")
	drawn, ctx := make(chan int64, 1), server.Within(t)
	go func() {
		var n int64
		if err := other.QueryRow(ctx, "SELECT nextval('loose')").Scan(&n); err != nil {
			t.Error(err)
		}
		drawn <- n
	}()
	server.Blocked(t, watch, 1)
	server.Do(t, conn, "COMMIT")
	if n, id := <-drawn, server.Value[int64](t, conn, "INSERT INTO item DEFAULT VALUES RETURNING id"); n != 2 ||
		id != 3 {
		t.Errorf("the other session draws %d and the table gets %d, want 2 and 3", n, id)
	}
}
