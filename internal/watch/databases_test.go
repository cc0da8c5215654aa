package watch

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgflurry/internal/segment"
	"pgflurry/proxy/statement"
)

// listOf makes a list of databases without segments.
func listOf(t *testing.T, names ...string) *Databases {
	t.Helper()
	d := NewDatabases(func(string) (*segment.Source, error) {
		return segment.New(segment.Settings{Open: func() segment.Store { panic("no numbers are asked for") }})
	})
	relist(t, d, names...)
	return d
}

// relist replaces the list.
func relist(t *testing.T, d *Databases, names ...string) {
	t.Helper()
	commit, err := d.Prepare(names)
	if err != nil {
		t.Fatal(err)
	}
	commit()
}

// everything is the decision of a watch that finds no fault.
var everything = decision{names: statement.AllNames, ids: answerAll, segments: answerAll}

func TestInvariant3ADatabaseThatIsTakenOffTheListLosesItsPermissionAndNoWatchBringsItBack(t *testing.T) {
	d := listOf(t, "app", "reports")
	app := d.listed[0]
	app.permit(everything)
	if j := app.permission.decision.Load(); j.ids != answerAll {
		t.Fatalf("it may be answered by %v", j.ids)
	}
	kept := d.PermissionOf("app")
	relist(t, d, "reports")
	app.permit(everything) // from a look that began before the removal
	if j := app.permission.decision.Load(); j.ids != answerNothing || j.segments != answerNothing {
		t.Errorf("taken off the list it may be answered by %v", j.ids)
	}
	if _, _, err := d.NumbersOf("app").TryNextN([]byte("tag"), 1); err == nil {
		t.Error("taken off the list it gives numbers")
	}
	relist(t, d, "reports", "app", "app")
	if len(d.listed) != 2 || d.listed[1] == app {
		t.Errorf("the list has %d databases; expected two, and a listing of its own for the one that came back",
			len(d.listed))
	}
	d.listed[1].permit(everything)
	if d.PermissionOf("app") != kept || app.permission.decision.Load().ids != answerAll {
		t.Error("a session from before is not answered again")
	}
	if d.PermissionOf("other") != nil || d.NumbersOf("other") != nil {
		t.Error("a database that was never listed has a permission")
	}
}

func TestWhatWorksForADatabaseEndsWithItsListingAndOthersDoNotNotice(t *testing.T) {
	d := listOf(t, "app", "reports")
	began, ended := make(chan string), make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		d.Run(ctx, func(ctx context.Context, l *Listing) {
			began <- l.name
			<-ctx.Done()
			ended <- l.name
		})
	}()
	both := []string{<-began, <-began}
	slices.Sort(both)
	if !slices.Equal(both, []string{"app", "reports"}) {
		t.Errorf("work began for %v", both)
	}
	relist(t, d, "reports", "billing")
	for range 2 {
		select {
		case name := <-began:
			if name != "billing" {
				t.Errorf("work began for %s", name)
			}
		case name := <-ended:
			if name != "app" {
				t.Errorf("work ended for %s", name)
			}
		}
	}
	cancel()
	last := []string{<-ended, <-ended}
	slices.Sort(last)
	if !slices.Equal(last, []string{"billing", "reports"}) {
		t.Errorf("at the end work ended for %v", last)
	}
	<-returned
}

func TestAllAreJudgedOnceEachThatIsListedWas(t *testing.T) {
	judged := func(d *Databases) bool {
		select {
		case <-d.judged:
			return true
		default:
			return false
		}
	}
	d := listOf(t, "app", "reports", "billing")
	d.wasJudged(d.listed[0])
	relist(t, d, "app", "reports")
	if judged(d) {
		t.Error("reports was not judged")
	}
	d.wasJudged(d.listed[1])
	if !judged(d) {
		t.Error("both were judged")
	}
	d = listOf(t, "app", "away")
	d.wasJudged(d.listed[0])
	relist(t, d, "app")
	if !judged(d) {
		t.Error("the one that was not judged is not listed any more")
	}
	d.wasJudged(d.listed[0])
}

func TestInvariant4NoJudgementOutlivesItsRun(t *testing.T) {
	s, _ := settingsOf(t, someConfig(t, "127.0.0.1:1"))
	d := s.Databases
	l := d.listed[0]
	session := d.PermissionOf("app")
	l.permit(everything)
	d.wasJudged(l)
	<-d.Judged()
	if !permits(session, everything.names) {
		t.Fatal("a decision permits nothing")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := New(s).Run(ended); err != nil {
		t.Fatal(err)
	}
	if permits(session, everything.names) || permits(d.PermissionOf("app"), everything.names) {
		t.Error("a session is answered by a decision whose Run has ended")
	}
	if _, err := d.Qualified("app"); !errors.Is(err, ErrNotJudged) {
		t.Errorf("its numbers: %v", err)
	}
}
