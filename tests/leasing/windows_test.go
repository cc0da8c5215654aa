package leasing

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// resize runs "namespace set --max-window".
func (r *room) resize(maxWindow time.Duration) error {
	return migrations.Up(r.context(), r.url, migrations.Settings{MaxWindow: maxWindow})
}

// windows returns max_window and quarantine of the namespace.
func (r *room) windows() string {
	r.t.Helper()
	return ask[string](r, "SELECT format('%s %s', max_window, quarantine) FROM pgflurry.namespace")
}

func (r *room) expectWindows(want string) {
	r.t.Helper()
	if got := r.windows(); got != want {
		r.t.Errorf("max_window and quarantine are %s, expected %s", got, want)
	}
}

func (r *room) gate() int64 {
	r.t.Helper()
	return ask[int64](r, "SELECT acquire_after FROM pgflurry.namespace")
}

const hour = time.Hour

func TestMaxWindowTakesItsQuarantineAlongAndMayBeSaidAgain(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	for _, c := range []struct {
		maxWindow time.Duration
		want      string
	}{
		{hour, "01:00:00 01:00:04"},
		{hour, "01:00:00 01:00:04"},
		{24 * hour, "24:00:00 24:00:04"},
		{10 * time.Minute, "00:10:00 00:10:04"},
		{time.Minute, "00:01:00 00:02:00"},
		{2 * time.Second, "00:00:02 00:02:00"},
	} {
		if err := r.resize(c.maxWindow); err != nil {
			t.Fatal(err)
		}
		r.expectWindows(c.want)
	}
	server.Says(t, r.resize(999*time.Millisecond), "--max-window is 999ms", "1s to 24h")
	server.Says(t, r.resize(24*hour+time.Second), "--max-window is 24h0m1s", "1s to 24h")
	server.Says(t, r.resize(-hour), "--max-window is -1h0m0s")
	if err := migrations.Up(r.context(), r.url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	r.expectWindows("00:00:02 00:02:00")
}

// Leases count in ticks, and each length is rounded up by itself.
func TestAQuarantineOutlivesAWindowAndTwiceTheSkewInTicksOfAnyUnit(t *testing.T) {
	t.Parallel()
	for _, unit := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 999 * time.Millisecond, time.Second} {
		t.Run(unit.String(), func(t *testing.T) {
			r := enter(t, server.MigratedWith(t, migrations.Settings{
				Layout: "41/0/3/12", DatabaseWorkers: 1, Unit: unit, MaxWindow: 3601 * time.Second,
			}))
			for _, skew := range []time.Duration{2 * time.Second, 1500 * time.Millisecond, 100 * time.Millisecond} {
				r.do("UPDATE pgflurry.namespace SET skew = make_interval(secs => $1)", skew.Seconds())
				for _, maxWindow := range []time.Duration{
					24 * hour, hour, 117001 * time.Millisecond, 116 * time.Second, 1001 * time.Millisecond,
				} {
					if err := r.resize(maxWindow); err != nil {
						t.Fatal(err)
					}
					if short := ask[int64](r, "SELECT pgflurry.ticks_of(max_window) + 2 * pgflurry.ticks_of(skew) "+
						"- pgflurry.ticks_of(quarantine) FROM pgflurry.namespace"); short > 0 {
						t.Errorf("max_window and quarantine are %s: with a skew of %v the quarantine lacks %d ticks",
							r.windows(), skew, short)
					}
				}
			}
		})
	}
}

func TestANewNamespaceMayBeginWithLongWindows(t *testing.T) {
	t.Parallel()
	r := enter(t, server.MigratedWith(t, migrations.Settings{Layout: small, DatabaseWorkers: 1, MaxWindow: hour}))
	r.expectWindows("01:00:00 01:00:04")
	a := r.acquire(r.store(r.url), "a")
	asked := renewal(a, never)
	asked.Window = 2 * hour.Milliseconds()
	if ahead := r.renew(r.store(r.url), asked).Until - r.now(); ahead > (hour+skew).Milliseconds() ||
		ahead < (hour-time.Minute).Milliseconds() {
		t.Errorf("a renewal reserves %d ticks ahead, expected an hour", ahead)
	}
}

func TestADatabaseThatJoinedSaysWhereMaxWindowIsChanged(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "41/0/4/12")
	joined := server.Database(t)
	home := migrations.Settings{JoinURL: r.url}
	if err := migrations.Up(r.context(), joined, home); err == nil {
		t.Fatal("the home keeps one worker for functions, and gave two")
	}
	r = enter(t, server.Migrated(t))
	home.JoinURL = r.url
	if err := migrations.Up(r.context(), joined, home); err != nil {
		t.Fatal(err)
	}
	err := migrations.Up(r.context(), joined, migrations.Settings{MaxWindow: hour})
	server.Says(t, err, "at home in", "Run it on that")
	home.MaxWindow = hour
	server.Says(t, migrations.Up(r.context(), joined, home), "is at home in", "Run it on that database")
	r.expectWindows("00:01:00 00:02:00")
}

// For this worker the old quarantine still counts, and another holder may have it afterwards. The holder that has lost
// it does not get it back.
func TestAHolderPastHisMarkWhenTheQuarantineChangesHasLostAndHisWorkerIsFreeWhenItWouldHaveBeen(t *testing.T) {
	t.Parallel()
	for _, to := range []time.Duration{hour, time.Minute} {
		t.Run(fmt.Sprint("to ", to), func(t *testing.T) {
			r := newRoom(t, small)
			rest := quarantine
			if to < hour {
				if err := r.resize(hour); err != nil {
					t.Fatal(err)
				}
				rest = hour + 2*skew
			}
			s := r.store(r.url)
			silent := r.acquire(s, "silent")
			r.pass(6 * time.Second) // past the mark of silent
			held := r.acquire(s, "held")
			if err := r.resize(to); err != nil {
				t.Fatal(err)
			}
			if left := r.mark(silent.Worker) - silent.Grant.Until; left != rest.Milliseconds() {
				t.Errorf("the worker rests for %d ticks, expected %v", left, rest)
			}
			var lost *lease.Lost
			if _, err := s.Renew(r.context(), renewal(silent, never)); !errors.As(err, &lost) {
				t.Errorf("a renewal by who was past his mark: %v, expected that he has lost", err)
			}
			if r.renew(s, renewal(held, never)).Until <= held.Grant.Until {
				t.Error("who held a worker was not let renew")
			}
			r.pass(rest - 8*time.Second)
			asked := r.request("next")
			asked.Range = lease.Range{Lowest: silent.Worker, Highest: silent.Worker}
			if again, err := s.Acquire(r.context(), asked); err == nil {
				t.Errorf("the worker is given away before its rest is over: %+v", again)
			}
			r.pass(8 * time.Second)
			if again, err := s.Acquire(r.context(), asked); err != nil || again.Grant.From < silent.Grant.Until {
				t.Errorf("after its rest: %+v, %v", again, err)
			}
		})
	}
}

func TestAQuarantineStaysUntilTheLastGrantOfTheLongerWindowHasEnded(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	if err := r.resize(hour); err != nil {
		t.Fatal(err)
	}
	s := r.store(r.url)
	long := r.acquire(s, "long")
	asked := renewal(long, never)
	asked.Window = hour.Milliseconds()
	until := r.renew(s, asked).Until
	if err := r.resize(time.Minute); err != nil {
		t.Fatal(err)
	}
	r.expectWindows("00:01:00 01:00:04")
	asked.Acknowledged = until
	if again := r.renew(s, asked).Until; again-until > 10_000 {
		t.Errorf("a renewal goes on by the longer window: %d ticks more", again-until)
	}
	r.pass(hour - window - time.Minute)
	if err := r.resize(time.Minute); err != nil {
		t.Fatal(err)
	}
	r.expectWindows("00:01:00 01:00:04")
	r.pass(2 * time.Minute)
	if err := r.resize(time.Minute); err != nil {
		t.Fatal(err)
	}
	r.expectWindows("00:01:00 00:02:00")
}

func TestAGateThatIsClosedStaysClosedForTheLongerQuarantineAndKeepsTheLongerOne(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("UPDATE pgflurry.namespace SET timeline = '0000000F'")
	var refusal *lease.Refusal
	if _, err := r.store(r.url).Acquire(r.context(), r.request("a")); !errors.As(err, &refusal) {
		t.Fatalf("acquire on another timeline: %v", err)
	}
	short := r.gate()
	if err := r.resize(hour); err != nil {
		t.Fatal(err)
	}
	if longer := r.gate() - short; longer != (hour + 2*skew - quarantine).Milliseconds() {
		t.Errorf("the gate opens %d ticks later, expected what the quarantine is longer by", longer)
	}
	if err := r.resize(time.Minute); err != nil {
		t.Fatal(err)
	}
	r.expectWindows("00:01:00 01:00:04")
}

// A failover may forget grants of an hour, and that the windows were raised. The grants go on, and only the proxies
// know of them.
func TestAProxyWithALongerWindowThanTheRowAllowsWaitsForAsMuchLonger(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	gone := r.acquire(s, "gone")
	r.do("UPDATE pgflurry.namespace SET timeline = '0000000F'")
	knowing := func() (lease.Acquired, *lease.Refusal) {
		asked := r.request("knowing")
		asked.Longest = hour.Milliseconds()
		a, err := s.Acquire(r.context(), asked)
		var refusal *lease.Refusal
		if err != nil && !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		return a, refusal
	}
	for range 2 { // the first attempt closes the gate
		if _, refusal := knowing(); refusal == nil || refusal.Reason != lease.GateClosed ||
			(refusal.Wait-hour-2*skew).Abs() > 30*time.Second {
			t.Fatalf("at the gate: %v, expected one that is closed for an hour", refusal)
		}
	}
	if opens := r.gate() - r.now(); opens > quarantine.Milliseconds() {
		t.Errorf("the row's gate is closed for %d ticks, expected its own quarantine", opens)
	}
	r.pass(hour + 2*skew + 5*time.Second) // 5 s: its first window
	if a, refusal := knowing(); refusal != nil || a.Worker != gone.Worker {
		t.Errorf("after an hour: %v, %v", a, refusal)
	}
}

func TestTheWindowRisesOnlyWhenEveryStandbyHasTheQuarantine(t *testing.T) {
	t.Parallel()
	cluster, r := ownServer(t, small)
	r.do("SELECT pg_create_physical_replication_slot('away', true)")
	server.Says(t, r.resize(hour), "max_window stays 1m0s", "slot away", "pg_drop_replication_slot")
	r.expectWindows("00:01:00 01:00:04")
	r.do("SELECT pg_drop_replication_slot('away')")

	standby := server.Standby(t, cluster, "near", "host=127.0.0.1 port="+fmt.Sprint(cluster.Port), nil)
	r.until("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming' AND application_name = 'near')")
	thaw := server.Freeze(t, standby)
	raised := make(chan error, 1)
	go func() { raised <- r.resize(2 * hour) }()
	r.until("SELECT quarantine > '2 h' FROM pgflurry.namespace")
	r.until("SELECT EXISTS (SELECT FROM pg_stat_activity " +
		"WHERE pid <> pg_backend_pid() AND query LIKE '%slot_type IS DISTINCT FROM%')")
	r.expectWindows("00:01:00 02:00:04")
	thaw()
	if err := <-raised; err != nil {
		t.Fatal(err)
	}
	r.expectWindows("02:00:00 02:00:04")

	r.do("CREATE ROLE plain LOGIN; GRANT postgres TO plain") // this role owns the schema, and may not see the standbys
	r.url = server.As(t, r.url, "plain", "")
	server.Says(t, r.resize(3*hour), "max_window stays 2h0m0s", `role "plain" may not see`, "pg_monitor")
	r.expectWindows("02:00:00 03:00:04")
	if err := r.resize(3 * hour); err != nil {
		t.Fatal(err)
	}
	r.expectWindows("03:00:00 03:00:04")
}
