package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/draw"
	"pgflurry/internal/namespace"
	"pgflurry/proxy"
	"pgflurry/proxy/statement"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

// forms are statements that a proxy answers where no name in them means anything else.
var forms = []string{
	"SELECT next_snowflake()",
	"SELECT public.next_snowflake()",
	"SELECT public.next_snowflake()::bigint",
	"SELECT public.next_snowflake()::int8",
	"SELECT public.next_snowflake()::text",
	"SELECT public.next_snowflake() FROM generate_series(1, '2')",
	"SELECT * FROM next_snowflakes(2)",
	"SELECT * FROM public.next_snowflakes('2')",
	"SELECT next_segment('order')",
	"SELECT public.next_segment('order')",
	"SELECT pgflurry.next_segment('order')",
	"SELECT * FROM next_segments('order', 2)",
	"SELECT * FROM public.next_segments('order', 2)",
	"SELECT * FROM pgflurry.next_segments('order', 2)",
}

// tagNumbers gives numbers of every tag, one at a time.
type tagNumbers struct{ room *draw.Queue }

func (n tagNumbers) TryNextN(_ []byte, _ int) (int64, int, error) {
	var one draw.Runs
	_, err := n.room.Draw(context.Background(), time.Second, 1, &one)
	return one.Take(), 1, err
}

func (n tagNumbers) NextN(_ context.Context, tag []byte, count int) (int64, int, error) {
	return n.TryNextN(tag, count)
}

// throughProxy returns the URL of a database through a proxy that answers what these names permit.
func throughProxy(t *testing.T, direct string, names statement.Names) string {
	u := server.Parse(t, direct)
	settings := proxytest.Settings(u.Host)
	settings.Segments = func(string) proxy.Segments { return tagNumbers{settings.IDs} }
	settings.Permission = func(string) *statement.Permission {
		p := &statement.Permission{}
		p.Set(names)
		return p
	}
	u.Host, _ = proxytest.Start(t, settings)
	return u.String()
}

// replyTo is the reply to a form, as far as a client can tell it from another. Numbers of pgflurry are all alike.
func replyTo(t *testing.T, conn *pgx.Conn, form string) (says string, fromMemory bool) {
	rows, err := conn.Query(within(t), form, pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		defer rows.Close()
	}
	var b strings.Builder
	for i := 0; err == nil && rows.Next(); i++ {
		if i == 0 {
			for _, column := range rows.FieldDescriptions() {
				fmt.Fprintf(&b, "%s of type %d:", column.Name, column.DataTypeOID)
			}
		}
		for _, value := range rows.RawValues() {
			switch n, err := strconv.ParseInt(string(value), 10, 64); {
			case err != nil || n < 1<<32:
				fmt.Fprintf(&b, " %q", value)
			default:
				b.WriteString(" n")
				fromMemory = n >= proxytest.FirstID
			}
		}
	}
	if err == nil {
		err = rows.Err()
	}
	if refusal := new(pgconn.PgError); errors.As(err, &refusal) {
		return "error " + refusal.Code, fromMemory
	} else if err != nil {
		t.Fatal(err)
	}
	return b.String(), fromMemory
}

func TestAFormIsAnsweredOnlyIfAllItsNamesMeanWhatTheySeemTo(t *testing.T) {
	t.Parallel()
	const other = "RETURNS bigint LANGUAGE sql AS 'SELECT 42::bigint'"
	for name, c := range map[string]struct {
		change  string // of the database
		session string // of both sessions
		lost    string // texts, with "|" between them: forms that hold one of them are forwarded
		why     string // in the decision
	}{
		"as installed": {},
		"many: dropped": {
			change: "DROP FUNCTION next_snowflakes(bigint)", lost: "next_snowflakes",
			why: "lacks pgflurry's function public.next_snowflakes",
		},
		"many: renamed": {
			change: "ALTER FUNCTION next_snowflakes(bigint) RENAME TO earlier", lost: "next_snowflakes", why: "lacks",
		},
		"many: of another type": {
			change: "DROP FUNCTION next_snowflakes(bigint); CREATE FUNCTION next_snowflakes(n bigint) " +
				"RETURNS SETOF text LANGUAGE sql AS 'SELECT public.next_snowflake()::text FROM generate_series(1, n)'",
			lost: "next_snowflakes", why: "can mean function next_snowflakes(bigint)",
		},
		"many: one alone": {
			change: "DROP FUNCTION next_snowflakes(bigint); CREATE FUNCTION next_snowflakes(bigint) " +
				"RETURNS bigint LANGUAGE sql AS 'SELECT public.next_snowflake()'",
			lost: "next_snowflakes", why: "can mean function next_snowflakes(bigint)",
		},
		"many: of another text": {
			change: "CREATE OR REPLACE FUNCTION next_snowflakes(n bigint) RETURNS SETOF bigint LANGUAGE sql " +
				"AS 'SELECT 42::bigint'",
			lost: "next_snowflakes", why: "can mean function next_snowflakes(bigint)",
		},
		"many: a column of another name": {
			change: "DROP FUNCTION next_snowflakes(bigint); CREATE FUNCTION next_snowflakes(n bigint) " +
				"RETURNS TABLE (id bigint) LANGUAGE sql " +
				"AS 'SELECT public.next_snowflake() FROM generate_series(1, n)'",
			lost: "next_snowflakes", why: "can mean",
		},
		"many: of another owner": {
			change: "CREATE ROLE others; GRANT ALL ON SCHEMA public TO others; " +
				"ALTER FUNCTION next_snowflakes(bigint) OWNER TO others",
			lost: "next_snowflakes", why: "can mean",
		},
		"many: revoked": {
			change: "REVOKE EXECUTE ON FUNCTION next_snowflakes(bigint) FROM PUBLIC",
			lost:   "next_snowflakes", why: "EXECUTE on next_snowflakes() was revoked from PUBLIC",
		},
		"many: another type of argument": {
			change: "CREATE FUNCTION public.next_snowflakes(n int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
			lost:   "next_snowflakes", why: "next_snowflakes(integer)",
		},
		"many: a cast": {
			change: "CREATE DOMAIN next_snowflakes AS int",
			lost:   "next_snowflakes", why: "can mean type next_snowflakes",
		},
		"many: a cast elsewhere": {
			change: "CREATE SCHEMA other; CREATE DOMAIN other.next_snowflakes AS int",
			lost:   "FROM next_snowflakes", why: "other.next_snowflakes", session: "SET search_path = public, other",
		},
		"a single one: revoked": {
			change: "REVOKE EXECUTE ON FUNCTION next_snowflake() FROM PUBLIC",
			lost:   "next_snowflake", why: "GRANT EXECUTE ON FUNCTION public.next_snowflake()",
		},
		"a single one: replaced": {
			change: "CREATE OR REPLACE FUNCTION public.next_snowflake() " + other,
			lost:   "next_snowflake", why: "can mean",
		},
		"a single one: a default argument": {
			change: "CREATE FUNCTION public.next_snowflake(n int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 1'",
			lost:   "next_snowflake", why: "next_snowflake(integer)",
		},
		"a single one: in the search_path of the database": {
			change: "CREATE SCHEMA other; CREATE FUNCTION other.next_snowflake() " + other + "; DO $$ BEGIN " +
				"EXECUTE format('ALTER DATABASE %I SET search_path = other, public', current_database()); END $$",
			lost: "SELECT next_snowflake", why: "calls that name no schema are forwarded",
		},
		"a single one: only after SET ROLE": {
			change: "CREATE ROLE kept; CREATE ROLE others LOGIN NOINHERIT; GRANT kept TO others; " +
				"CREATE SCHEMA other AUTHORIZATION kept; CREATE FUNCTION other.next_snowflake() " + other,
			session: "SET SESSION AUTHORIZATION others; SET ROLE kept; SET search_path = other, public",
			lost:    "SELECT next_snowflake", why: "function other.next_snowflake()",
		},
		"a single one: in the schema of a role that cannot log in": {
			change: `CREATE ROLE kept; CREATE SCHEMA kept; GRANT USAGE ON SCHEMA kept TO kept; ` +
				`CREATE FUNCTION kept.next_snowflake() ` + other,
			session: "SET ROLE kept",
			lost:    "SELECT next_snowflake", why: "function kept.next_snowflake()",
		},
		"a single one: where only a superuser looks": {
			change:  "CREATE SCHEMA other; CREATE FUNCTION other.next_snowflake() " + other,
			session: "SET search_path = other, public",
			lost:    "SELECT next_snowflake", why: "function other.next_snowflake()",
		},
		"a clone for a tenant": {
			change: cloned, session: `SET search_path = "Tenant-1", public`,
		},
		"a clone for a tenant, changed": {
			change: cloned + `; ALTER FUNCTION "Tenant-1".next_snowflake() OWNER TO pg_monitor`,
			lost:   "SELECT next_snowflake|FROM next_snowflakes", why: `function "Tenant-1".next_snowflake()`,
		},
		"a clone of many for a tenant, over another one": {
			change: strings.Replace(cloned, "EXECUTE", "CREATE FUNCTION \"Tenant-1\".next_snowflake() "+
				"RETURNS bigint LANGUAGE sql AS 'SELECT 42::bigint'; PERFORM", 1),
			session: `SET search_path = "Tenant-1", public`,
			lost:    "SELECT next_snowflake|FROM next_snowflakes", why: `function "Tenant-1".next_snowflake()`,
		},
		"a clone for a tenant whose schema has a part of another's name": {
			change:  strings.ReplaceAll(cloned, `"Tenant-1"`, "catalog"),
			session: "SET search_path = catalog, public",
		},
		"a clone for a tenant, revoked": {
			change: cloned + `; REVOKE EXECUTE ON FUNCTION "Tenant-1".next_snowflake() FROM PUBLIC`,
			lost:   "SELECT next_snowflake|FROM next_snowflakes", why: `function "Tenant-1".next_snowflake()`,
		},
		"a series: of text": {
			change: "CREATE FUNCTION generate_series(int, text) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'",
			lost:   "generate_series", why: "can mean function generate_series(integer,text)",
		},
		"a series: of bigint": {
			change: "CREATE FUNCTION generate_series(int, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'",
			lost:   "generate_series", why: "can mean function generate_series(integer,bigint)",
		},
		"a series: before PostgreSQL's own": {
			change: "CREATE FUNCTION generate_series(int, int) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'; " +
				"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', " +
				"current_database()); END $$",
			lost: "generate_series", why: "generate_series(integer,integer)",
		},
		"a cast to text": {
			change: "CREATE FUNCTION shown(bigint) RETURNS text LANGUAGE sql " +
				"AS $$ SELECT format('no. %s', $1 > 0) $$; CREATE CAST (bigint AS text) WITH FUNCTION shown(bigint)",
			lost: "::text", why: "a cast from bigint",
		},
		"other types": {
			change:  "CREATE SCHEMA other; CREATE DOMAIN other.text AS numeric; CREATE TABLE other.int8 (x int)",
			session: "SET search_path = other, public, pg_catalog",
			lost:    "::text|::int8", why: "type other.text",
		},
		"a tag: replaced": {
			change: "CREATE OR REPLACE FUNCTION pgflurry.next_segments(tag text, n bigint) RETURNS SETOF bigint " +
				"LANGUAGE sql AS 'SELECT 42::bigint'",
			lost: "next_segments", why: "pgflurry.next_segments(text,bigint)",
		},
		"a tag: an alias that was dropped": {
			change: "DROP FUNCTION public.next_segment(text)", lost: " next_segment(|public.next_segment(",
		},
		"a tag: an alias of another, which the search_path hides": {
			change: "CREATE SCHEMA other; CREATE FUNCTION other.next_segment(tag text) " + other + "; " +
				"CREATE OR REPLACE FUNCTION public.next_segment(tag text) RETURNS bigint " +
				"RETURN other.next_segment(tag); DO $$ BEGIN " +
				"EXECUTE format('ALTER DATABASE %I SET search_path = other, public', current_database()); END $$",
			lost: " next_segment(|public.next_segment(", why: "the name next_segment can mean",
		},
		"a tag: a cast": {
			change: "CREATE DOMAIN next_segment AS text", lost: " next_segment(|public.next_segment(",
			why: "type next_segment",
		},
		"a table of the name": {change: "CREATE TABLE next_segment (id int); CREATE TABLE next_snowflakes (id int)"},
	} {
		t.Run(name, func(t *testing.T) {
			direct := server.MigratedWith(t, all)
			server.Exec(t, direct, "INSERT INTO pgflurry.segment (biz_tag, max_id) VALUES ('order', 1::bigint << 40)")
			server.Exec(t, direct, c.change)
			t.Cleanup(func() { server.Exec(t, direct, dropRoles) })
			judged, err := namespace.Answerable(within(t), server.Connect(t, direct), row(t, direct).ID)
			if err != nil {
				t.Fatal(err)
			}
			whys := strings.Join([]string{judged.IDs.Why, judged.Segments.Why}, "\n")
			if !strings.Contains(whys, c.why) || c.why == "" && whys != "\n" {
				t.Errorf("operators read %q; expected %q", whys, c.why)
			}
			names := slices.Concat(judged.IDs.Names, judged.Segments.Names, judged.Others.Names)
			postgres := server.Connect(t, direct)
			answered := server.Connect(t, throughProxy(t, direct, statement.NamesOf(names...)))
			for _, conn := range []*pgx.Conn{postgres, answered} {
				run(t, conn, c.session)
			}
			for _, form := range forms {
				want, _ := replyTo(t, postgres, form)
				got, fromMemory := replyTo(t, answered, form)
				if got != want {
					t.Errorf("%s: PostgreSQL says %s, and the proxy %s", form, want, got)
				}
				lost := c.lost != "" && slices.ContainsFunc(strings.Split(c.lost, "|"),
					func(text string) bool { return strings.Contains(form, text) })
				if fromMemory == lost {
					t.Errorf("%s is answered from memory: %v", form, fromMemory)
				}
			}
		})
	}
}

// dropRoles drops the roles of the test above, and what they own.
const dropRoles = `DO $$ DECLARE r text; BEGIN
	FOR r IN SELECT rolname FROM pg_roles WHERE rolname IN ('others', 'kept') LOOP
		EXECUTE format('DROP OWNED BY %I CASCADE', r);
		EXECUTE format('DROP ROLE %I', r);
	END LOOP;
END $$`
