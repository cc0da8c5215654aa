package watch

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"pgflurry/internal/namespace"
	"pgflurry/internal/segment"
	"pgflurry/proxy/statement"
)

// permits says whether a permission has these names.
func permits(p *statement.Permission, names statement.Names) bool {
	var same statement.Permission
	same.Set(names)
	return reflect.DeepEqual(p, &same)
}

func TestInvariant2SessionsFromBeforeAnotherPlaceAreNotAnsweredAnyMore(t *testing.T) {
	d := listOf(t, "app")
	app := d.listed[0]
	app.isAt("")
	app.isAt("a")
	app.permit(everything)
	before, numbers := d.PermissionOf("app"), d.NumbersOf("app")
	app.isAt("") // a standby makes no statement
	app.isAt("a")
	if !permits(before, statement.AllNames) {
		t.Error("at the same place a session is not answered any more")
	}
	app.isAt("b")
	after := d.PermissionOf("app")
	app.permit(everything)
	app.isAt("a") // back again: nobody knows where the session was meanwhile
	app.permit(everything)
	for name, p := range map[string]*statement.Permission{"a": before, "b": after} {
		if !permits(p, 0) {
			t.Errorf("a session from %s is answered", name)
		}
	}
	if !permits(d.PermissionOf("app"), statement.AllNames) {
		t.Error("a new session is not answered")
	}
	relist(t, d)
	relist(t, d, "app")
	kept := d.PermissionOf("app")
	if d.listed[0].isAt("b"); d.PermissionOf("app") == kept {
		t.Error("a place that changed while the database was not listed went unnoticed")
	}
	if _, count, err := numbers.unlessMoved(1, 5, nil); count != 0 || !errors.Is(err, segment.ErrElsewhere) {
		t.Errorf("a session from before gets %d numbers that were drawn meanwhile, error %v", count, err)
	}
	if _, count, err := d.NumbersOf("app").unlessMoved(1, 5, nil); count != 5 || err != nil {
		t.Errorf("a new session gets %d numbers, error %v", count, err)
	}
}

func TestALookSaysWhereTheNumbersComeFromAndAStandbySaysNothing(t *testing.T) {
	d := listOf(t, "app").listed[0]
	given := func() bool {
		_, _, err := d.numbers.TryNextN([]byte("tag"), 1)
		return !errors.Is(err, segment.ErrElsewhere)
	}
	for _, look := range []struct {
		says  namespace.Decision
		given bool
	}{
		{namespace.Decision{}, false},
		{namespace.Decision{SegmentOrigin: "a"}, true},
		{namespace.Decision{}, true},
		{namespace.Decision{Nothing: "it is closed"}, false},
		{namespace.Decision{}, false},
		{namespace.Decision{SegmentOrigin: "b"}, true},
	} {
		if d.setOrigin(d.numbers.Origin(), look.says); given() != look.given {
			t.Errorf("after %+v numbers are given: %v, expected %v", look.says, !look.given, look.given)
		}
	}
	before := d.numbers.Origin()
	d.numbers.From(before, "") // a fetch was elsewhere while the look was asked
	if d.setOrigin(before, namespace.Decision{SegmentOrigin: "b"}); given() {
		t.Error("a look that was asked before the change lets numbers be given")
	}
}

func TestASessionDrawsFromTheSourceOfItsDatabase(t *testing.T) {
	d := listOf(t, "app")
	numbers := d.NumbersOf("app")
	for name, draw := range map[string]func() (int64, int, error){
		"TryNextN": func() (int64, int, error) { return numbers.TryNextN([]byte("tag"), 1) },
		"NextN":    func() (int64, int, error) { return numbers.NextN(context.Background(), []byte("tag"), 1) },
	} {
		if _, _, err := draw(); !errors.Is(err, segment.ErrElsewhere) {
			t.Errorf("%s before a look: %v, expected %v", name, err, segment.ErrElsewhere)
		}
	}
}
