//go:build full

package database

import (
	"math"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// quiet draws two IDs in each of 2048 ticks. It waits until the function can no longer use the last tick, and draws
// then. So do clients that a timer wakes.
const quiet = `CREATE TABLE drawn (first bigint, second bigint);
	DO $$
	DECLARE
		last bigint := next_snowflake() >> 22;
		one  bigint;
		two  bigint;
	BEGIN
		FOR i IN 1 .. 2048 LOOP
			WHILE pgflurry.ticks(clock_timestamp()) <= last + 4 LOOP
				PERFORM pg_sleep(0.0001);
			END LOOP;
			one := next_snowflake();
			two := next_snowflake();
			last := two >> 22;
			INSERT INTO drawn VALUES (one, two);
		END LOOP;
	END $$`

// chi is the chi-square statistic of the remainders of division by m. Each remainder should be equally frequent.
const chi = `SELECT sum((n - 2048.0 / $1::int) ^ 2 / (2048.0 / $1::int))::float8 FROM (
	SELECT count(id) AS n FROM generate_series(0, $1::int - 1) AS remainder
		LEFT JOIN (SELECT CASE $2::int WHEN 1 THEN first ELSE second END AS id FROM drawn) AS d
		ON id % $1::int = remainder
	GROUP BY remainder) AS counts`

func TestAQuietDatabaseUsesAllRemaindersAlikeAlsoForTheSecondIDOfATransaction(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, quiet)
	for draw := 1; draw <= 2; draw++ {
		for m := 2; m <= 1024; m *= 2 {
			limit := chiSquareLimit(float64(m - 1))
			if got := server.Value[float64](t, conn, chi, m, draw); got > limit {
				t.Errorf("draw %d of a transaction, modulo %d: chi-square %.1f above %.1f", draw, m, got, limit)
			}
		}
	}
}

// The first 1/32 of a sequence is the stand-in's: of 64 remainders a call draws 62.
func TestAQuietDatabaseUsesAllRemaindersOfASmallSequence(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.MigratedWith(t, migrations.Settings{Layout: "javascript"}))
	server.Do(t, conn, strings.ReplaceAll(quiet, ">> 22", ">> 12"))
	if n := server.Value[int](t, conn, "SELECT count(DISTINCT first % 64) FROM drawn"); n != 62 {
		t.Errorf("first IDs of a transaction have %d remainders modulo 64; expected 62", n)
	}
}

// chiSquareLimit is exceeded by chance once in three million tables, which are five deviations. The approximation is
// that of Wilson and Hilferty (1931). It also holds for few degrees of freedom.
func chiSquareLimit(degrees float64) float64 {
	const deviations = 5
	spread := 2 / (9 * degrees)
	return degrees * math.Pow(1-spread+deviations*math.Sqrt(spread), 3)
}

func TestWithoutTheRandomStartAQuietDatabaseGivesEvenFirstIDsAndOddSecondOnes(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `DO $$
		DECLARE
			f          regprocedure;
			definition text;
		BEGIN
			FOREACH f IN ARRAY '{pgflurry.advance(bigint),pgflurry.advance_slowly(bigint)}'::regprocedure[] LOOP
				definition := pg_get_functiondef(f);
				ASSERT definition ~ 'hashint8extended\(.*, 0';
				EXECUTE regexp_replace(definition, '(pg_catalog\.)?hashint8extended\(',
					'0 OPERATOR(pg_catalog.*) pg_catalog.hashint8extended(', 'g');
			END LOOP;
		END $$`)
	server.Do(t, conn, quiet)
	const even = `SELECT count(*) FROM drawn
		WHERE first % 2 = 0 AND (second % 2 = 1 OR second >> 22 > first >> 22)`
	if n := server.Value[int](t, conn, even); n != 2048 {
		t.Errorf("%d of 2048 transactions have an even and an odd ID, expected all", n)
	}
}
