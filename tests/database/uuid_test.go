package database

import (
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// bits shows a column of UUIDs as text of 0 and 1.
const bits = "('x' || replace(id::text, '-', ''))::bit(128)"

func TestUUIDsHaveTheVersionAndVariantBitsOfRFC9562(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	for function, version := range map[string]string{"uuidv4": "0100", "uuidv7": "0111"} {
		wrong := server.Value[int](t, conn, `SELECT count(*) FROM (SELECT
			pgflurry.`+function+`() AS id FROM generate_series(1, 2000) OFFSET 0) AS drawn
			WHERE substring(`+bits+` FROM 49 FOR 4) <> b'`+version+`' OR substring(`+bits+` FROM 65 FOR 2) <> b'10'`)
		if wrong != 0 {
			t.Errorf("%d of 2000 of %s have other version or variant bits", wrong, function)
		}
		// Every other bit must be 0 in some UUIDs and 1 in others. In version 7 the bits of the time are not random.
		from := map[string]int{"uuidv4": 1, "uuidv7": 67}[function]
		stuck := server.Values[int](t, conn, `SELECT place FROM generate_series($1::int, 128) AS place,
			(SELECT pgflurry.`+function+`() AS id FROM generate_series(1, 300) OFFSET 0) AS drawn
			WHERE place NOT BETWEEN 49 AND 52 AND place NOT IN (65, 66)
			GROUP BY place HAVING count(DISTINCT get_bit(`+bits+`, place - 1)) <> 2`, from)
		if len(stuck) > 0 {
			t.Errorf("bits %v of %s never change", stuck, function)
		}
	}
}

func TestAUUIDv7HoldsTheClockOfTheServerAndOrdersByIt(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	outside := server.Value[int](t, conn, `SELECT count(*) FROM (
		SELECT date_trunc('milliseconds', clock_timestamp()) AS before, pgflurry.uuidv7() AS id,
			clock_timestamp() AS after FROM generate_series(1, 2000) OFFSET 0) AS drawn
		WHERE pgflurry.uuidv7_time(id) NOT BETWEEN before AND after`)
	if outside != 0 {
		t.Errorf("%d of 2000 hold a time at which they were not made", outside)
	}
	// the clock moves by a microsecond or more between two draws
	steps := server.Value[int](t, conn, `WITH RECURSIVE drawn AS (
			SELECT 1 AS n, pgflurry.uuidv7() AS id, pg_sleep(0.00001) AS slept
			UNION ALL SELECT n + 1, pgflurry.uuidv7(), pg_sleep(0.00001) FROM drawn WHERE n < 500)
		SELECT count(*) FROM (SELECT id > lag(id) OVER (ORDER BY n) AS rises FROM drawn) AS pairs WHERE NOT rises`)
	if steps != 0 {
		t.Errorf("%d of 500 are not above the one before", steps)
	}
	for id, want := range map[string]string{
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f": "2022-02-22 19:22:22+00", // from RFC 9562, appendix A.6
		"00000000-0000-7000-8000-000000000000": "1970-01-01 00:00:00+00",
		"ffffffff-ffff-7fff-bfff-ffffffffffff": "10889-08-02 05:31:50.655+00",
	} {
		got := server.Value[string](t, conn,
			"SELECT (pgflurry.uuidv7_time($1::text::uuid) AT TIME ZONE 'UTC')::text || '+00'", id)
		if got != want {
			t.Errorf("%s is of %s, want %s", id, got, want)
		}
	}
	for _, id := range []string{
		"pgflurry.uuidv4()", "'017f22e2-79b0-1cc3-98c4-dc0c0c07398f'", "'017f22e2-79b0-7cc3-18c4-dc0c0c07398f'",
	} {
		server.Says(t, server.Refused(t, conn, "22023", "SELECT pgflurry.uuidv7_time("+id+")"),
			"is no UUID of version 7", "first 48 bits")
	}
}

func TestFromPostgreSQL18OnUUIDv7IsTheServersOwnAndBeforeItIsOurs(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, withAllNames(t))
	builtIn := server.Value[bool](t, conn, "SELECT to_regprocedure('pg_catalog.uuidv7()') IS NOT NULL")
	recent := server.Value[bool](t, conn, "SELECT current_setting('server_version_num')::int >= 180000")
	if builtIn != recent {
		t.Fatalf("the server has a uuidv7() of its own: %v, and is 18 or newer: %v", builtIn, recent)
	}
	means := server.Value[string](t, conn, "SELECT 'uuidv7()'::regprocedure::oid::regprocedure::text || ' ' || "+
		"pronamespace::regnamespace FROM pg_proc WHERE oid = 'uuidv7()'::regprocedure")
	if want := map[bool]string{true: "uuidv7() pg_catalog", false: "uuidv7() public"}[builtIn]; means != want {
		t.Errorf("uuidv7() without a schema is %q, want %q", means, want)
	}
	// the call looks for the server's own function, so an upgrade of the server needs no other function of ours
	server.Do(t, conn, "SET track_functions = 'all'; SELECT pgflurry.uuidv7(), public.uuidv7()")
	body := server.Value[string](t, conn, "SELECT prosrc FROM pg_proc WHERE oid = 'pgflurry.uuidv7()'::regprocedure")
	if !strings.Contains(body, "server_version_num") {
		t.Errorf("the function does not look at the version:\n%s", body)
	}
}
