package lease

import (
	"errors"
	"testing"

	"pgflurry/internal/connect"
	"pgflurry/tests/support/scripted"
)

var aRenewal = Renewal{
	Lease: Lease{Namespace: "n", Worker: 3, Owner: "o", Term: 1}, Acknowledged: 60000, Wanted: 70000, Window: 60000,
}

// renewed is a renewal acknowledged up to tick 70000.
var renewed = []string{"n", "NULL", "f", "70000", "10000000", "60000", "f", "node", "f", "f", "f", "place", "f"}

func TestInvariant2TheConnectionIsClosedAfterAnUnknownOutcomeAndTheNextAttemptUsesANewOne(t *testing.T) {
	for _, c := range scripted.Spoiled {
		t.Run(c.Name, func(t *testing.T) {
			spoiled, good := scripted.Clean(renewed...), scripted.Clean(renewed...)
			c.Spoil(&spoiled)
			config, connections := scripted.Server(t, &spoiled, &good)
			store := NewPostgres(config, connect.Rules{})
			defer store.Close()
			if _, err := store.Renew(t.Context(), aRenewal); err == nil || errors.As(err, new(*Lost)) {
				t.Fatalf("error %v, expected an unknown outcome", err)
			}
			renewed, err := store.Renew(t.Context(), aRenewal)
			if err != nil || renewed.Until != 70000 || renewed.DatabaseMicros != 10_000_000 {
				t.Errorf("renewed %+v, error %v on the second connection", renewed, err)
			}
			if n := connections.Load(); n != 2 {
				t.Errorf("%d connections, expected 2", n)
			}
		})
	}
}

func TestARowThatCannotBeReadIsUnknown(t *testing.T) {
	x := scripted.Clean(renewed[:2]...)
	config, _ := scripted.Server(t, &x)
	store := NewPostgres(config, connect.Rules{})
	defer store.Close()
	if renewed, err := store.Renew(t.Context(), aRenewal); err == nil {
		t.Errorf("renewed %+v from half a row", renewed)
	}
}
