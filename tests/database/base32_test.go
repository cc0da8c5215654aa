//go:build full

package database

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
	"pgflurry/tests/support/server"
)

// read returns the ID that the function in the database reads from a text, or nil if it refuses the text.
func read(t testing.TB, conn *pgx.Conn, text string) (id *int64) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT snowflake_from_base32($1)", text).Scan(&id)
	if refusal := new(pgconn.PgError); errors.As(err, &refusal) {
		if refusal.Hint == "" || refusal.Code != "22P02" && refusal.Code != "22003" {
			t.Errorf("%q: %v, hint %q", text, err, refusal.Hint)
		}
		return nil
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return id
}

// FuzzBase32InSQLIsThatOfGo compares the two readers on any text, and the two writers on any ID.
func FuzzBase32InSQLIsThatOfGo(f *testing.F) {
	conn := server.Connect(f, server.Migrated(f))
	for _, text := range []string{
		"095PEQE000W00", "095peqe000wo0=", "7zzz-zzzz-zzzzz", "0-0-0-0-0-0-0-0-0-0-0-0-0", "ILO-ilo-ILO-ilo0", "-",
		"00000-00000014u", "00000-000000014", "8000000000000", "000000000000u", "0000000000000-", "-0000000000000",
		"000000000000ı", "000000000000é", "0000000000000é", "000000000000\\", "00000000 0000", "*~$=U*~$=U*~$",
		"\n0000000000000", "0000000000000\n", "000000-\n-000000", "",
	} {
		f.Add(text, int64(len(text))<<57|330678927360028672)
	}
	f.Fuzz(func(t *testing.T, text string, id int64) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return // PostgreSQL has no such text
		}
		want, err := generator.FromBase32(text)
		got := read(t, conn, text)
		if (err == nil) != (got != nil) || err == nil && want != *got {
			t.Errorf("%q: Go reads %d, %v; SQL reads %v", text, want, err, got)
		}
		id &= 1<<63 - 1
		const write = "SELECT snowflake_base32($1) || ' ' || snowflake_base32($1, true)"
		text = checked(t, id)
		if written := server.Value[string](t, conn, write, id); written != text[:13]+" "+text {
			t.Errorf("ID %d is %s in SQL; in Go it is %s", id, written, text)
		}
	})
}

func checked(t testing.TB, id int64) string {
	t.Helper()
	text, err := generator.CheckedBase32(id)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestACheckSymbolShowsEachWrongCharacterAndEachSwapInSQL(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	const symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U"
	for _, id := range []int64{0, 330678927360028672, 1<<63 - 1} {
		right := checked(t, id)
		for i := range right {
			wrong := []string{}
			for _, symbol := range strings.ReplaceAll(symbols, right[i:i+1], "") {
				wrong = append(wrong, right[:i]+string(symbol)+right[i+1:])
			}
			if i > 0 && right[i] != right[i-1] {
				wrong = append(wrong, right[:i-1]+right[i:i+1]+right[i-1:i]+right[i+1:])
			}
			for _, text := range wrong {
				if got := read(t, conn, text); got != nil {
					t.Errorf("%s for %s is read as %d", text, right, *got)
				}
			}
		}
	}
	server.Refused(t, conn, "22P02", "SELECT snowflake_from_base32('0000000000000', with_check => true)")
	if id := server.Value[int](t, conn, "SELECT snowflake_from_base32('00000000000011', with_check => true)"); id != 1 {
		t.Errorf("with a check symbol it is read as %d", id)
	}
}

// TestBase32SortsAsTheIDDoesInTheUsualCollations also counts the collations with another order, for docs/json.md.
// Czech, Danish and Estonian have letters of two characters, or another alphabet.
func TestBase32SortsAsTheIDDoesInTheUsualCollations(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TEMP TABLE text_of AS
		SELECT id, snowflake_base32(id) AS plain, snowflake_base32(id, true) AS checked
		FROM (SELECT (random() * 9.2e18)::bigint AS id FROM generate_series(1, 3000)
			UNION SELECT snowflake_floor(now()) + n FROM generate_series(1, 3000) AS n) AS ids`)
	sorts := func(collation string) bool {
		t.Helper()
		return server.Value[bool](t, conn, fmt.Sprintf(`SELECT bool_and(rises) FROM (
			SELECT id > lag(id, 1, -1) OVER (ORDER BY plain COLLATE %[1]s)
				AND id > lag(id, 1, -1) OVER (ORDER BY checked COLLATE %[1]s) AS rises FROM text_of) AS pairs`,
			collation))
	}
	for _, name := range server.Values[string](t, conn, `SELECT oid::regcollation::text FROM pg_collation
		WHERE collname ~ '^(C|POSIX|ucs_basic|und-x-icu|(en|de|fr|es|it|pt|nl|pl|ru|ja|zh|ko|tr)(-|_|$).*)$'
			AND collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))`) {
		if !sorts(name) {
			t.Errorf("sorted by %s the texts are not in the order of the IDs", name)
		}
	}
	for _, name := range []string{"cs-x-icu", "da-x-icu", "et-x-icu"} {
		if sorts(`"` + name + `"`) {
			t.Errorf("docs/json.md says that %s sorts otherwise", name)
		}
	}
}

func TestBase32MakesAGeneratedColumnAndAnIndexThatADumpKeeps(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY,
			code text COLLATE "C" GENERATED ALWAYS AS (snowflake_base32(id, true)) STORED UNIQUE, label text);
		CREATE INDEX item_base32 ON item (snowflake_base32(id));
		INSERT INTO item (label) SELECT n FROM generate_series(1, 5000) AS n; ANALYZE item`)
	uses := func(conn *pgx.Conn, index, where string) {
		t.Helper()
		plan := strings.Join(server.Values[string](t, conn, "EXPLAIN SELECT label FROM item WHERE "+where), "\n")
		if !strings.Contains(plan, index) || !strings.Contains(plan, "Index Cond") {
			t.Errorf("WHERE %s does not use %s:\n%s", where, index, plan)
		}
	}
	for _, name := range []string{"snowflake_base32", "pgflurry.snowflake_base32"} {
		uses(conn, "item_base32", name+"(id) = '095PEQE000W00'")
	}
	uses(conn, "item_pkey", "id = snowflake_from_base32('095peqe-000w00')")
	const whole = "SELECT bool_and(snowflake_from_base32(code, true) = id) AND count(*) = 5000 FROM item"
	if !server.Value[bool](t, conn, whole) {
		t.Error("a generated column is not that of its key")
	}
	dump, err := exec.CommandContext(t.Context(), server.Tool(t, "pg_dump"), "--no-owner", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	copied := server.Database(t)
	restore := exec.CommandContext(t.Context(), server.Tool(t, "psql"), "-qXv", "ON_ERROR_STOP=1", copied)
	restore.Stdin = strings.NewReader(string(dump))
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	there := server.Connect(t, copied)
	server.Do(t, there, "ANALYZE item")
	if !server.Value[bool](t, there, whole) {
		t.Error("a generated column is another after a restore")
	}
	uses(there, "item_base32", "snowflake_base32(id) = '095PEQE000W00'")
}

func TestBase32OfAColumnWithACollationOfItsOwnIsRead(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
		CREATE TABLE link (code text COLLATE any_case); INSERT INTO link VALUES (snowflake_base32(1234, true))`)
	const query = "SELECT snowflake_from_base32(code) FROM link WHERE code = '000000000016jd'"
	if id := server.Value[int](t, conn, query); id != 1234 {
		t.Errorf("it is read as %d", id)
	}
	server.Refused(t, conn, "22P02", "SELECT snowflake_from_base32(code || 'é') FROM link")
}
