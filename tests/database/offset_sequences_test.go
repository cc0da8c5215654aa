package database

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// next draws n numbers from a sequence.
func next(t *testing.T, conn *pgx.Conn, sequence string, n int) []int64 {
	t.Helper()
	return server.Values[int64](t, conn, "SELECT nextval($1::text::regclass) FROM generate_series(1, $2::int)",
		sequence, n)
}

func TestOffsetSequencesInterleaveAThirdServerWithTheOldStepRepeatsAndAReplanDoesNot(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	made := server.Values[string](t, conn, "SELECT pgflurry.create_offset_sequences('ticket', 2)")
	if !slices.Equal(made, []string{"public.ticket_1", "public.ticket_2"}) {
		t.Errorf("made %q", made)
	}
	one, two := next(t, conn, "ticket_1", 4), next(t, conn, "ticket_2", 3)
	if !slices.Equal(one, []int64{1, 3, 5, 7}) || !slices.Equal(two, []int64{2, 4, 6}) {
		t.Errorf("two servers draw %v and %v", one, two)
	}
	server.Do(t, conn, "CREATE SEQUENCE hasty INCREMENT BY 2 START WITH 3")
	if three := next(t, conn, "hasty", 2); !slices.Contains(one, three[0]) {
		t.Errorf("a third server with offset 3 and step 2 draws %v, expected numbers that are there", three)
	}
	base := server.Value[int64](t, conn, "SELECT pgflurry.replan_offset_sequences('ticket', 3)")
	all := append(one, two...)
	for k := range 3 {
		for i, n := range next(t, conn, "ticket_"+strconv.Itoa(k+1), 4) {
			if want := base + int64(k+1+3*i); n != want || n <= 7 {
				t.Errorf("server %d of 3 draws %d, want %d, above 7", k+1, n, want)
			}
			all = append(all, n)
		}
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 4+3+12 {
		t.Errorf("numbers repeat: %v", all)
	}
	// The set may shrink once the leftover sequence is gone, and with a lower bound that the caller knows.
	server.Do(t, conn, "DROP SEQUENCE ticket_3")
	base = server.Value[int64](t, conn, "SELECT pgflurry.replan_offset_sequences('ticket', 2, 1001)")
	if base != 1002 {
		t.Errorf("numbers begin above %d, want 1002: the first multiple of 2 that is not below 1001", base)
	}
	if n := next(t, conn, "ticket_2", 2); !slices.Equal(n, []int64{1004, 1006}) {
		t.Errorf("server 2 draws %v", n)
	}
}

// following runs the commands of a hint as they stand there. It only fills in the two words that the operator chooses.
func following(t *testing.T, conn *pgx.Conn, refused error, number int) {
	t.Helper()
	_, commands, found := strings.Cut(server.Hint(refused), "run: ")
	if !found {
		t.Fatalf("the hint has no command: %v (%s)", refused, server.Hint(refused))
	}
	commands, _, _ = strings.Cut(commands, "\n")
	server.Do(t, conn, strings.NewReplacer("ABOVE", "1000", "SERVER", strconv.Itoa(number)).Replace(commands))
}

func TestServersWithDatabasesOfTheirOwnThatFollowTheHintsToAThirdServerRepeatNoNumber(t *testing.T) {
	t.Parallel()
	var conns []*pgx.Conn
	var all []string
	draw := func(k, n int) {
		t.Helper()
		for _, number := range next(t, conns[k-1], "app.ticket_"+strconv.Itoa(k), n) {
			all = append(all, strconv.FormatInt(number, 10))
		}
	}
	for k := 1; k <= 3; k++ {
		conn := server.Connect(t, server.Migrated(t))
		server.Do(t, conn, "CREATE SCHEMA app")
		conns = append(conns, conn)
		if k < 3 {
			server.Value[string](t, conn, "SELECT pgflurry.create_offset_sequences('app.ticket', 2, $1::int)", k)
			draw(k, 100*k)
		}
	}
	for _, k := range []int{2, 3, 1} {
		// What an operator tries first is refused, because one database does not know the numbers of the others.
		code := "22023"
		if k == 3 {
			code = "42704"
		}
		short := server.Refused(t, conns[k-1], code, "SELECT pgflurry.replan_offset_sequences('app.ticket', 3)")
		server.Refused(t, conns[k-1], code, "SELECT pgflurry.replan_offset_sequences('app.ticket', 3, NULL, "+
			strconv.Itoa(k)+")")
		following(t, conns[k-1], short, k)
		for each := 1; each <= 3; each++ {
			if each != 3 || k != 2 { // the third has its sequence later
				draw(each, 50)
			}
		}
	}
	if again := twice(all); len(again) > 0 {
		t.Errorf("of %d numbers these came twice: %v", len(all), again)
	}
	// A sequence beside one of the present plan gets the same hint.
	beside := server.Refused(t, conns[0], "55000", "SELECT pgflurry.create_offset_sequences('app.ticket', 4, 4)")
	server.Says(t, beside, "replan_offset_sequences('app.ticket', 4, ABOVE, SERVER)")
}

func TestAReplanOnAServerThatHasPassedTheBoundSaysWhichNumbersMayHaveComeTwice(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, "SELECT pgflurry.create_offset_sequences('ticket', 2, 2)")
	next(t, conn, "ticket_2", 600)
	server.Says(t, server.Refused(t, conn, "22023", "SELECT pgflurry.replan_offset_sequences('ticket', 3, 1000, 2)"),
		"number 1200 has been reached", "above 1000", "from 1001 to 1200")
}

func TestNumbersOfASequenceThatWasDroppedDoNotComeAgain(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, "SELECT pgflurry.create_offset_sequences('ticket', 3)")
	gone := next(t, conn, "ticket_3", 100)
	last := server.Value[int64](t, conn, "SELECT last_value FROM ticket_3")
	server.Says(t, server.Refused(t, conn, "55000", "SELECT pgflurry.replan_offset_sequences('ticket', 2)"),
		"public.ticket_3 is not in the plan", "last_value", "above")
	server.Do(t, conn, "DROP SEQUENCE ticket_3")
	for _, servers := range []string{"2", "3", "4"} {
		replan := "SELECT pgflurry.replan_offset_sequences('ticket', " + servers + ")"
		server.Says(t, server.Refused(t, conn, "22023", replan), "sequence public.ticket_3 is not here",
			"no less than the last number")
	}
	server.Value[int64](t, conn, "SELECT pgflurry.replan_offset_sequences('ticket', 3, $1)", last)
	for k := range 3 {
		for _, number := range next(t, conn, "ticket_"+strconv.Itoa(k+1), 50) {
			if slices.Contains(gone, number) {
				t.Fatalf("server %d gives %d, which ticket_3 gave before it was dropped", k+1, number)
			}
		}
	}
}

func TestAReplanWhileEverybodyDrawsRepeatsNoNumber(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	admin := server.Connect(t, url)
	server.Do(t, admin, "SELECT pgflurry.create_offset_sequences('ticket', 4)")
	var mu sync.Mutex
	var all []string
	var drawers sync.WaitGroup
	drawers.Go(func() {
		k := 0
		at(t, 4, func(ctx context.Context, conn *pgx.Conn) error {
			mu.Lock()
			k++
			sequence := "ticket_" + strconv.Itoa(k)
			mu.Unlock()
			for range 100 {
				var n string
				err := conn.QueryRow(ctx, "SELECT nextval($1::text::regclass)::text", sequence).Scan(&n)
				if err != nil {
					return err
				}
				mu.Lock()
				all = append(all, n)
				mu.Unlock()
			}
			return nil
		}, url)
	})
	for _, servers := range []int{5, 7, 8, 11} {
		server.Value[int64](t, admin, "SELECT pgflurry.replan_offset_sequences('ticket', $1::int)", servers)
	}
	drawers.Wait()
	if again := twice(all); len(all) != 400 || len(again) > 0 {
		t.Errorf("%d numbers, twice came %v", len(all), again)
	}
}

func TestASequenceIsNotAddedToOthersWhosePlanIsAnother(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, "SELECT pgflurry.create_offset_sequences('ticket', 2)")
	one := next(t, conn, "ticket_1", 3)
	server.Says(t, server.Refused(t, conn, "55000", "SELECT pgflurry.create_offset_sequences('ticket', 3, 3)"),
		"public.ticket_1 begins at 1 with the step 2", "replan_offset_sequences")
	server.Do(t, conn, "SELECT pgflurry.replan_offset_sequences('ticket', 3); DROP SEQUENCE ticket_3")
	// it would begin with 3, which another sequence has given
	server.Refused(t, conn, "55000", "SELECT pgflurry.create_offset_sequences('ticket', 3, 3)")
	server.Do(t, conn, "SELECT pgflurry.replan_offset_sequences('ticket', 3, 100)")
	if n := next(t, conn, "ticket_3", 1); slices.Contains(one, n[0]) {
		t.Errorf("server 3 draws %v, and server 1 had %v", n, one)
	}
}

func TestAReplanSeesWhatAnotherOneMadeWhileItWaitedAndRefusesASnapshotThatCannot(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	first, second, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, first, "SELECT pgflurry.create_offset_sequences('ticket', 2)")
	server.Do(t, first, "BEGIN; SELECT pgflurry.replan_offset_sequences('ticket', 3)")
	refused, ctx := make(chan error, 1), server.Within(t)
	go func() {
		_, err := second.Exec(ctx, "SELECT pgflurry.replan_offset_sequences('ticket', 2)")
		refused <- err
	}()
	server.Blocked(t, watch, 1)
	server.Do(t, first, "COMMIT")
	server.Says(t, <-refused, "sequence public.ticket_3 is not in the plan")
	server.Says(t, server.Refused(t, first, "25000",
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pgflurry.replan_offset_sequences('ticket', 4)"),
		"repeatable read", "READ COMMITTED")
}
