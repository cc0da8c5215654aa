package database

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// was is everything that the catalogs say of a sequence, and its comment.
const was = `SELECT concat_ws(' ', s.seqtypid::regtype, s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
		s.seqcycle, pg_sequence_last_value(s.seqrelid), obj_description(s.seqrelid, 'pg_class'))
	FROM pg_sequence AS s WHERE s.seqrelid = $1::text::regclass`

// stops expects that a sequence gives nothing, and that the error names it.
func stops(t *testing.T, conn *pgx.Conn, sequence string) {
	t.Helper()
	server.Says(t, server.Refused(t, conn, "2200H", "SELECT nextval('"+sequence+"')"), "nextval: reached m",
		`value of sequence "`+sequence+`"`)
}

func TestNextvalOfTheOldSequenceIsAnErrorAfterConverting(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, tables)
	convert(t, conn, "convert_to_snowflake", true)
	for _, sequence := range []string{
		"serial_id_seq", "always_id_seq", "narrow_id_seq", "parted_id_seq", "divided_id_seq",
	} {
		stops(t, conn, sequence)
		if said := server.Value[string](t, conn, was, sequence); !strings.Contains(said,
			"so nextval() fails. Draw next_snowflake(), or go back with convert_to_sequence()") {
			t.Errorf("the comment of %s does not say what to do: %s", sequence, said)
		}
	}
	server.Refused(t, conn, "22003", "SELECT setval('serial_id_seq', 5)") // as tools do that reset sequences
}

func TestTheOldSequenceIsLeftOrStoppedAsTheLastCallSays(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, tables)
	for table, sequence := range map[string]string{"serial": "serial_id_seq", "always": "always_id_seq"} {
		call := func(old string, want bool) {
			t.Helper()
			const query = "SELECT pgflurry.convert_to_snowflake($1::text::regclass, old_sequence => $2)"
			if got := server.Value[bool](t, conn, query, table, old); got != want {
				t.Errorf("%s of %s returns %v, want %v", old, table, got, want)
			}
		}
		before := server.Value[string](t, conn, shape, table, "id")
		next := server.Value[int64](t, conn, "SELECT nextval($1::text::regclass)", sequence)
		step := next - server.Value[int64](t, conn, "SELECT max(id) FROM "+table)
		call("leave", true)
		call("leave", false)
		if got := server.Value[int64](t, conn, "SELECT nextval($1::text::regclass)", sequence); got != next+step {
			t.Errorf("left, %s gives %d, want %d", sequence, got, next+step)
		}
		call("stop", true)
		stops(t, conn, sequence)
		call("stop", false)
		call("leave", true)
		if got := server.Value[int64](t, conn, "SELECT nextval($1::text::regclass)", sequence); got != next+2*step {
			t.Errorf("started again, %s gives %d, want %d", sequence, got, next+2*step)
		}
		server.Do(t, conn, "SELECT pgflurry.convert_to_sequence('"+table+"')")
		if got := insert(t, conn, table, "id"); got != next+3*step {
			t.Errorf("switched back, %s gets %d, want %d", table, got, next+3*step)
		}
		if after := server.Value[string](t, conn, shape, table, "id"); after != before {
			t.Errorf("%s was %q and is %q", table, before, after)
		}
	}
	for _, word := range []string{"'drop'", "NULL"} {
		err := server.Refused(t, conn, "22023", "SELECT pgflurry.convert_to_snowflake('serial', 'id', "+word+")")
		server.Says(t, err, "not stop or leave", "it goes on as it was")
	}
}

func TestAStoppedSequenceThatStartsAgainIsWhatItWas(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	for name, sequence := range map[string]string{
		"never called":           "",
		"of hi/lo":               "INCREMENT 50; SELECT nextval('kept'), nextval('kept')",
		"descending":             "INCREMENT -1; SELECT nextval('kept')",
		"descending, new":        "INCREMENT -10 MINVALUE -500 MAXVALUE 20 CYCLE",
		"set below its start":    "START 100; SELECT setval('kept', 7)",
		"bounded, cached, cycle": "MINVALUE 3 MAXVALUE 900 CACHE 20 CYCLE; SELECT nextval('kept')",
		"at its end":             "MAXVALUE 2; SELECT setval('kept', 2)",
		"with a comment":         `; COMMENT ON SEQUENCE kept IS E'Was: mine.\nof \'two\' lines.'`,
		"of a narrow type":       "AS smallint; SELECT nextval('kept')",
	} {
		t.Run(name, func(t *testing.T) {
			server.Do(t, conn, `DROP TABLE IF EXISTS item; CREATE TABLE item (id bigint PRIMARY KEY, n int);
				CREATE SEQUENCE kept OWNED BY item.id `+sequence)
			server.Do(t, conn, "ALTER TABLE item ALTER id SET DEFAULT nextval('kept')")
			before := server.Value[string](t, conn, was, "kept")
			server.Do(t, conn, "BEGIN; SELECT pgflurry.convert_to_snowflake('item'); ROLLBACK")
			if after := server.Value[string](t, conn, was, "kept"); after != before {
				t.Errorf("rolled back, the sequence is %q, and was %q", after, before)
			}
			for range 2 {
				server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item')")
				stops(t, conn, "kept")
				server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item', old_sequence => 'leave')")
				if after := server.Value[string](t, conn, was, "kept"); after != before {
					t.Errorf("started again, the sequence is %q, and was %q", after, before)
				}
			}
		})
	}
}

func TestASequenceOfSeveralColumnsGoesOnUntilTheLastOfThemIsConverted(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE first (id bigserial PRIMARY KEY);
		CREATE TABLE second (id bigint DEFAULT nextval('first_id_seq'));
		SELECT pgflurry.convert_to_snowflake('first');
		INSERT INTO second DEFAULT VALUES`)
	if id := server.Value[int64](t, conn, "SELECT id FROM second"); id != 1 {
		t.Errorf("the other table gets %d, want 1", id)
	}
	server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('second', seq => 'first_id_seq')")
	stops(t, conn, "first_id_seq")
	server.Says(t, server.Refused(t, conn, "42809", "SELECT pgflurry.convert_to_snowflake('first', seq => 'second')"),
		"public.second is not a sequence")
	server.Do(t, conn, "CREATE TABLE third (id bigserial)")
	server.Says(t, server.Refused(t, conn, "55000",
		"SELECT pgflurry.convert_to_snowflake('third', seq => 'first_id_seq')"),
		"draws from sequence public.third_id_seq, and not from public.first_id_seq")
}

func TestASequenceThatTheApplicationDrawsFromItselfIsStoppedByName(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE item (id bigint PRIMARY KEY); CREATE SEQUENCE item_seq INCREMENT 50;
		INSERT INTO item VALUES (nextval('item_seq'))`)
	server.Says(t, server.Refused(t, conn, "55000", "SELECT pgflurry.convert_to_snowflake('item')"), "has no default",
		"seq => '...'")
	server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item', seq => 'item_seq')")
	stops(t, conn, "item_seq")
	server.Do(t, conn, "BEGIN; INSERT INTO item DEFAULT VALUES")
	server.Do(t, conn, "SELECT pgflurry.convert_to_sequence('item', 'id', 'item_seq')")
	const above = "SELECT nextval('item_seq') - 49 > max(id) AND nextval('item_seq') - 149 <= max(id) + 50 FROM item"
	if !server.Value[bool](t, conn, above) { // Hibernate's number is the last of its 50
		t.Error("switched back, a block of the sequence's numbers begins below a key, or far above")
	}
	server.Do(t, conn, "ROLLBACK; SELECT pgflurry.convert_to_sequence('item', 'id', 'item_seq')")
	if next := server.Value[int64](t, conn, "SELECT nextval('item_seq')"); next != 51 {
		t.Errorf("switched back, the sequence gives %d, want 51", next)
	}
	server.Refused(t, conn, "23502", "INSERT INTO item DEFAULT VALUES") // the column had no default before
}

func TestNumbersThatAnOpenSessionHasCachedAreStoppedToo(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigserial PRIMARY KEY); ALTER SEQUENCE item_id_seq CACHE 100")
	server.Do(t, other, "INSERT INTO item DEFAULT VALUES")
	server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item')")
	stops(t, other, "item_id_seq")
	server.Do(t, conn, "SELECT pgflurry.convert_to_sequence('item')")
	if next := server.Value[int64](t, other, "SELECT nextval('item_id_seq')"); next != 101 {
		t.Errorf("switched back, the sequence gives %d, want 101, which nobody has cached", next)
	}
}

func TestASessionThatHasDrawnInsertsBeforeTheTableIsConverted(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigserial PRIMARY KEY)")
	server.Do(t, other, "BEGIN; SELECT nextval('item_id_seq')")
	done, ctx := make(chan error, 1), server.Within(t)
	go func() {
		_, err := conn.Exec(ctx, "SELECT pgflurry.convert_to_snowflake('item')")
		done <- err
	}()
	server.Blocked(t, watch, 1) // the conversion has locked the table, and waits for the sequence
	server.Do(t, other, "INSERT INTO item VALUES (1); COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	stops(t, watch, "item_id_seq")
	if n := server.Value[int](t, watch, "SELECT count(*) FROM item"); n != 1 {
		t.Errorf("%d rows, want that of the session that had drawn", n)
	}
}

func TestAConversionGivesUpWhileASessionThatHasDrawnStaysOpen(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigserial PRIMARY KEY)")
	server.Do(t, other, "BEGIN; SELECT nextval('item_id_seq')")
	server.Says(t, server.Refused(t, conn, "55P03", "SELECT pgflurry.convert_to_snowflake('item')"),
		"transactions that have drawn from sequence public.item_id_seq do not end", "pg_stat_activity")
	server.Do(t, conn, "SET lock_timeout = '50ms'")
	server.Do(t, other, "COMMIT; BEGIN; LOCK TABLE item")
	server.Says(t, server.Refused(t, conn, "55P03", "SELECT pgflurry.convert_to_snowflake('item')"), "lock timeout")
	server.Do(t, other, "ROLLBACK")
	server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item')")
	if timeout := server.Value[string](t, conn, "SHOW lock_timeout"); timeout != "50ms" {
		t.Errorf("lock_timeout is %s, and was 50ms", timeout)
	}
}

func TestAnIdentityThatTheFirstVersionConvertedIsSwitchedBack(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE item (id bigserial PRIMARY KEY);
		COMMENT ON SEQUENCE item_id_seq IS 'pgflurry: GENERATED ALWAYS AS IDENTITY until convert_to_snowflake()';
		ALTER TABLE item ALTER id SET DEFAULT next_snowflake()`)
	server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item')")
	stops(t, conn, "item_id_seq")
	server.Do(t, conn, "SELECT pgflurry.convert_to_sequence('item')")
	server.Refused(t, conn, "428C9", "INSERT INTO item VALUES (1)")
	if id := server.Value[int64](t, conn, "INSERT INTO item DEFAULT VALUES RETURNING id"); id != 1 {
		t.Errorf("the identity gives %d, want 1", id)
	}
}

func TestANumberThatIsDrawnWhileAConversionWaitsForTheSequenceIsNotGivenAgain(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, `CREATE SEQUENCE loose; CREATE TABLE item (id bigint DEFAULT nextval('loose'));
		SELECT pgflurry.convert_to_snowflake('item')`)
	server.Do(t, other, "BEGIN; SELECT nextval('loose')")
	done, ctx := make(chan error, 1), server.Within(t)
	go func() {
		_, err := conn.Exec(ctx, "SELECT pgflurry.convert_to_sequence('item', 'id', 'loose')")
		done <- err
	}()
	server.Blocked(t, watch, 1)
	drawn := server.Value[int64](t, other, "SELECT nextval('loose')")
	server.Do(t, other, "COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if id := server.Value[int64](t, watch, "INSERT INTO item DEFAULT VALUES RETURNING id"); id <= drawn {
		t.Errorf("the table gets %d, and %d was drawn before", id, drawn)
	}
}

func TestAStoppedSequenceThatWasRestartedKeepsNoLimit(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	for name, back := range map[string]string{
		"switched back": "SELECT pgflurry.convert_to_sequence('item')",
		"left":          "SELECT pgflurry.convert_to_snowflake('item', old_sequence => 'leave')",
		"stopped again, and switched back": `SELECT pgflurry.convert_to_snowflake('item');
			SELECT pgflurry.convert_to_sequence('item')`,
	} {
		for _, key := range []string{"bigserial", "bigint GENERATED ALWAYS AS IDENTITY"} {
			server.Do(t, conn, "DROP TABLE IF EXISTS item; CREATE TABLE item (id "+key+` PRIMARY KEY, n int);
				INSERT INTO item (n) VALUES (1), (2)`)
			before := server.Value[string](t, conn, was, "item_id_seq")
			server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake('item')")
			server.Do(t, conn, "TRUNCATE item RESTART IDENTITY") // as suites of tests do
			server.Do(t, conn, back)
			server.Do(t, conn, "SELECT nextval('item_id_seq') FROM generate_series(1, 2)")
			after, _, _ := strings.Cut(server.Value[string](t, conn, was, "item_id_seq"), " pgflurry: ")
			if after != before {
				t.Errorf("%s of %s: the sequence is %q, and was %q", name, key, after, before)
			}
		}
	}
}
