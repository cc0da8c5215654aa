package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const undecodable = "SELECT '\xff'" // in UTF8

// Earlier drafts of the proxy got each of these wrong.
func TestUnnamedObjectsThatDraftsGotWrongAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	table := say(Query("CREATE TEMP TABLE t AS SELECT generate_series(1, 3)"))
	remove := say(Parse("", "DELETE FROM t"), Sync)
	bindRun := say(Bind("", ""), Execute(""), Sync)
	count := say(Query("SELECT count(*) FROM t"))
	long := strings.Repeat("x", 8300)
	locals := map[string]step{"an answered batch": together(request(ours), Sync), "an answered Query": say(Query(ours))}
	var all []conversation
	for behind, local := range locals {
		for name, refused := range map[string]step{
			"a Query that cannot be decoded":      say(Query(undecodable)),
			"a Parse that cannot be decoded":      say(Parse("", undecodable), Sync),
			"a Parse that is cut":                 say(Raw('P', "\x00SELECT 1\x00"), Sync),
			"a Query that is cut":                 say(Raw('Q', "SELECT 1")),
			"a long Query that cannot be decoded": say(Query(undecodable + ", '" + long + "'")),
			"a long Parse that is cut":            say(Raw('P', "\x00"+long), Sync),
			"a Flush with contents":               say(Raw('H', "x"), Sync), "a Sync with contents": say(Raw('S', "x")),
			"a Bind that is cut": say(Raw('B', "\x00"), Sync), "a Describe that is cut": say(Raw('D', "S"), Sync),
		} {
			all = append(all,
				conversation{
					name:  "the DELETE of before does not run behind " + behind + " and " + name,
					steps: []step{table, remove, local, refused, bindRun, count}, local: 1, brief: true,
				},
				conversation{
					name: "the portal of before does not run behind " + behind + " and " + name,
					steps: []step{
						table, say(Query("BEGIN")), say(Parse("", "DELETE FROM t"), Bind("", ""), Sync), local, refused,
						say(Execute(""), Sync), say(Query("COMMIT")), count,
					}, local: 1, brief: true,
				},
			)
		}
		all = append(all,
			conversation{name: "the portal of before does not run behind " + behind +
				" and a Query that cannot be parsed", steps: []step{
				say(Query("BEGIN")), say(Parse("", "SELECT 42"), Bind("", ""), Sync), local, say(Query("nonsense")),
				say(Execute(""), Sync), say(Query("ROLLBACK")),
			}, local: 1},
			conversation{name: "the DELETE of before does not run by a Bind with a long portal name behind " +
				behind, steps: []step{
				table, remove, local, say(Bind(long, ""), Execute(long), Sync), count, local,
			}, local: 2},
			conversation{name: "nor by a Bind with a portal name that is not quite as long behind " +
				behind, steps: []step{
				table, remove, local, say(Bind(long[:64], ""), Execute(long[:64]), Sync), count, remove, local,
				say(Bind(long[:63], ""), Execute(long[:63]), Sync), count,
			}, local: 2},
		)
	}
	checkAll(t, append(all,
		conversation{
			name: "a Sync with contents fails a block, and then the statement of an answered batch is gone",
			steps: []step{
				say(Query("BEGIN")), together(request(ours), Sync), say(Raw('S', "x")), bindRun, say(Query("ROLLBACK")),
				bindRun, together(request(ours), Sync, Sync), bindRun,
			}, local: 3,
		},
		conversation{name: "a statement that was forwarded is gone with a Query", steps: []step{
			say(Parse("", ours), DescribeStatement(""), Sync), say(Query("SELECT 1")), bindRun,
		}},
		conversation{name: "a statement that was answered is gone with a Query", steps: []step{
			together(request(ours), Sync), say(Query("SELECT 1")), bindRun,
		}, local: 1},
	))
}

func TestNamesThatDraftsGotWrongAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	prepared := say(Parse("s", ours), DescribeStatement("s"), Sync)
	run := say(Bind("", "s"), DescribePortal(""), Execute(""), Sync)
	call := func(body string) step {
		return say(Query("CREATE PROCEDURE pg_temp.p() LANGUAGE plpgsql AS $$BEGIN " + body + " END$$"))
	}
	gone := "EXECUTE 'DEALLOCATE s';"
	fails := " RAISE 'after that';"
	thousand, again := step{}, step{}
	for i := range 1000 {
		thousand = append(thousand, Parse(fmt.Sprint("n", i), ours))
		again = append(again, Parse(fmt.Sprint("m", i), ours))
	}
	all := []conversation{
		{name: "an INSERT of a key that is there already", steps: []step{
			say(Query("CREATE TEMP TABLE t (a int PRIMARY KEY)")), prepared, run,
			say(Query("INSERT INTO t VALUES (1)")), say(Query("INSERT INTO t VALUES (1)")), run,
			say(Parse("i", "INSERT INTO t VALUES ($1)"), DescribeStatement("i"), Sync),
			say(BindValues("", "i", nil, values{[]byte("1")}), Execute(""), Sync), run,
			together(request("INSERT INTO t VALUES (1)"), Sync), run,
		}, local: 4},
		{name: "a name whose Close succeeds and whose Parse fails", steps: []step{
			prepared, run, say(CloseStatement("s"), Parse("s", "nonsense"), Sync), run,
		}, local: 1},
		{name: "a name whose Close is skipped", steps: []step{
			prepared, run, say(Parse("x", "nonsense"), CloseStatement("s"), Sync), say(DescribeStatement("s"), Sync),
		}, local: 1},
		{name: "a thousand names, and DISCARD ALL", steps: []step{
			prepared, together(thousand, Sync), run, say(Bind("", "n998"), Execute(""), Sync),
			say(Bind("", "n999"), Execute(""), Sync), say(Query("DISCARD ALL")), run,
			say(Bind("", "n7"), Execute(""), Sync), together(again, Sync),
			say(Bind("", "m998"), Execute(""), Sync), say(Bind("", "n7"), Execute(""), Sync),
		}, local: 3},
	}
	for name, way := range map[string][]step{
		"a DO":                       {say(Query("DO $$BEGIN " + gone + " END$$"))},
		"a DO that fails":            {say(Query("DO $$BEGIN " + gone + fails + " END$$"))},
		"a DO in a batch":            {together(request("DO $$BEGIN "+gone+" END$$"), Sync)},
		"a DO in a batch that fails": {together(request("DO $$BEGIN "+gone+fails+" END$$"), Sync)},
		"a prepared DO": {
			say(Parse("d", "DO $$BEGIN "+gone+" END$$"), Sync), run, say(Bind("", "d"), Execute(""), Sync),
		},
		"a prepared DO that fails": {
			say(Parse("d", "DO $$BEGIN "+gone+fails+" END$$"), Sync), run, say(Bind("", "d"), Execute(""), Sync),
		},
		"a prepared DO in a later batch": {
			say(Parse("d", "DO $$BEGIN "+gone+" END$$"), Sync), run,
			say(Bind("p", "d"), Execute("p"), Parse("", "nonsense"), Sync),
		},
		"a prepared DEALLOCATE": {say(Parse("d", "DEALLOCATE s"), Sync), run, say(Bind("", "d"), Execute(""), Sync)},
		"a prepared DEALLOCATE ALL": {
			say(Parse("d", "DEALLOCATE ALL"), Sync), run, say(Bind("", "d"), Execute(""), Parse("", "nonsense"), Sync),
		},
		"a CALL":            {call(gone), run, say(Query("CALL pg_temp.p()"))},
		"a CALL that fails": {call(gone + fails), run, say(Query("CALL pg_temp.p()"))},
		"a prepared CALL that fails": {
			call(gone + fails), say(Parse("d", "CALL pg_temp.p()"), Sync), run, say(Bind("", "d"), Execute(""), Sync),
		},
		"a Query whose second statement fails": {say(Query("DEALLOCATE s; SELECT 1/0"))},
		"a Query that fails behind a comment":  {say(Query("/* so */ DEALLOCATE ALL; SELECT nonsense"))},
		"a long Query whose second statement fails": {
			say(Query("DEALLOCATE s; SELECT 1/0, '" + strings.Repeat("x", 9000) + "'")),
		},
		"a long DO that fails": {
			say(Query("DO $$BEGIN " + gone + fails + " -- " + strings.Repeat("x", 9000) + "\n END$$")),
		},
		"a prepared DISCARD ALL": {
			say(Parse("d", "DISCARD ALL"), Sync), run, say(Bind("", "d"), Execute(""), Sync),
		},
		"a block that is rolled back": {say(Query("BEGIN")), say(Query("DEALLOCATE s")), say(Query("ROLLBACK"))},
		"a savepoint that is rolled back": {
			say(Query("BEGIN")), say(Query("SAVEPOINT a")), say(Query("DEALLOCATE s")), say(Query("ROLLBACK TO a")),
			say(Query("COMMIT")),
		},
	} {
		local := 2
		for _, s := range way {
			if slices.Equal(joinBytes(s), joinBytes(run)) {
				local++
			}
		}
		all = append(all, conversation{
			name:  "deallocated by " + name,
			steps: slices.Concat([]step{prepared, run}, way, []step{run, prepared, run}), local: local, brief: true,
		})
	}
	checkAll(t, all)
}

// PostgreSQL compares only the first 63 bytes of a name.
func TestNamesAreComparedAsPostgreSQLComparesThem(t *testing.T) {
	t.Parallel()
	run := func(name string) step { return say(Bind("", name), Execute(""), Sync) }
	other := "SELECT 'not an ID'"
	var all []conversation
	for n := 61; n <= 66; n++ {
		a, b := strings.Repeat("n", n-1)+"a", strings.Repeat("n", n-1)+"b"
		short := min(1, max(0, 64-n)) // 1: a and b are two names, and the proxy keeps both
		all = append(all,
			conversation{name: fmt.Sprint("Close of another, ", n, " bytes"), steps: []step{
				say(Parse(a, ours), Sync), run(a), say(CloseStatement(b), Sync), run(a),
				say(CloseStatement(a), Sync), run(a),
			}, local: 2 * short, brief: true},
			conversation{name: fmt.Sprint("Close and Parse of another, ", n, " bytes"), steps: []step{
				say(Parse(a, ours), Sync), run(a), say(CloseStatement(b), Parse(b, other), Sync), run(a), run(b),
				say(CloseStatement(a), Parse(a, ours), Sync), run(b), run(a),
			}, local: 3 * short, brief: true},
			conversation{name: fmt.Sprint("Parse of another, ", n, " bytes"), steps: []step{
				say(Parse(a, ours), Sync), run(a), say(Parse(b, other), Sync), run(a), run(b),
				say(Query("DEALLOCATE " + a)), run(a), run(b),
			}, local: 2 * short, brief: true},
			conversation{name: fmt.Sprint("of one that is as long as PostgreSQL's, ", n, " bytes"), steps: []step{
				say(Parse(a[:min(n, 63)], ours), Sync), run(a[:min(n, 63)]),
				say(CloseStatement(a), Parse(a, other), Sync), run(a[:min(n, 63)]), run(a),
			}, local: 1},
		)
	}
	checkAll(t, all)
}

// In this search_path PostgreSQL itself cannot run an answered form. The test compares its replies to everything else.
func TestTheNextBatchNeedsNoFunctionOfOursInItsSearchPath(t *testing.T) {
	t.Parallel()
	st := newStand(t, 1)
	named := []message{Bind("", "n"), Execute(""), Sync}
	for name, run := range map[string][]message{
		"a named statement": named, "a Query": {Query("SELECT 1")}, "a Describe": {DescribeStatement("n"), Sync},
	} {
		t.Run(name, func(t *testing.T) {
			before := together(Query("CREATE SCHEMA IF NOT EXISTS app"), Parse("n", "SELECT 1"), Sync, Query("BEGIN"),
				Query("SET LOCAL search_path = app"))
			local := say(Parse("", ours), Bind("", ""), Execute(""), Sync)
			behind := together(run, named, Query("COMMIT"))
			want, err := st.postgresSays(conversation{}, slices.Concat(before, behind), nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := open(st.answering.dial, st.answering.name, st.database)
			if err != nil {
				t.Fatal(err)
			}
			defer s.conn.Close()
			hears := func(ready int) []string {
				if err := s.wait(func(t transcript) bool { return t.ready >= ready }); err != nil {
					t.Fatal(err)
				}
				return slices.Clone(s.hears().lines)
			}
			say := func(step step) {
				if err := s.say(joinBytes(step)); err != nil {
					t.Fatal(err)
				}
			}
			say(before)
			n := len(hears(5))
			say(local)
			answered := hears(6)[n:]
			if s.hears().localIDs() != 1 {
				t.Fatalf("the proxy said %q; expected an answer", answered)
			}
			say(behind)
			got := s.goodbye()
			got.lines = slices.Delete(got.lines, n, n+len(answered))
			if d := difference(want, got, "answering proxy"); d != "" {
				t.Error(d)
			}
		})
	}
}

// The proxy answers a call although the search_path has no such function. A Parse that the proxy sends later in its
// place fails. The client must get that error. Otherwise it would take the ROLLBACK that its COMMIT becomes for a
// success.
func TestAnErrorOfTheProxysOwnMessagesIsToldToTheClient(t *testing.T) {
	t.Parallel()
	st := newStand(t, 1)
	for name, run := range map[string][]message{
		"a Describe":             {DescribeStatement(""), Sync},
		"a Bind, and the COMMIT": {Bind("", ""), Execute(""), Parse("c", "COMMIT"), Bind("", "c"), Execute(""), Sync},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(st.answering.dial, st.answering.name, st.database)
			if err != nil {
				t.Fatal(err)
			}
			defer s.conn.Close()
			says := func(ready int, messages ...message) []string {
				before := len(s.hears().lines)
				if err := s.say(joinBytes(messages)); err != nil {
					t.Fatal(err)
				}
				if err := s.wait(func(t transcript) bool { return t.ready >= ready }); err != nil {
					t.Fatal(err)
				}
				return slices.Clone(s.hears().lines[before:])
			}
			says(3, Query("BEGIN"), Query("SET LOCAL search_path = pg_catalog"))
			says(4, Parse("", ours), Bind("", ""), Execute(""), Sync)
			if n := s.hears().localIDs(); n != 1 {
				t.Fatalf("%d IDs from memory; expected 1", n)
			}
			got := says(5, run...)
			// PostgreSQL 18 reports search_path
			got = slices.DeleteFunc(got, func(line string) bool {
				return strings.HasPrefix(line, "ParameterStatus search_path")
			})
			if len(got) != 2 || !strings.Contains(got[0], "42883") || got[1] != "ReadyForQuery E" {
				t.Fatalf("the client heard %q; "+
					"expected the error of its statement, and that the transaction has failed", got)
			}
		})
	}
}
