package tests

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/jackc/pgx/v5"
	"github.com/sony/sonyflake"

	"pgflurry/generator"
	"pgflurry/migrations"
	"pgflurry/namespace"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// bwmarrinSettings give a namespace the layout of bwmarrin/snowflake. foreign are the numbers of its nodes.
func bwmarrinSettings(foreign *namespace.Ranges) migrations.Settings {
	return migrations.Settings{Layout: "twitter", Epoch: time.UnixMilli(snowflake.Epoch), Foreign: foreign}
}

// twice counts the IDs that come more than once.
func twice(ids []int64) (n int) {
	slices.Sort(ids)
	return len(ids) - len(slices.Compact(ids))
}

// besideBwmarrin draws at the same time from the library with node 0, from the function and through a proxy. It returns
// all IDs.
func besideBwmarrin(t *testing.T, foreign *namespace.Ranges) (ids []int64) {
	t.Helper()
	direct := server.MigratedWith(t, bwmarrinSettings(foreign))
	proxy := program.Serve(t, direct, "beside")
	conn := server.Connect(t, direct)
	// A new function is a second ahead of the clock, where the library is not.
	server.Do(t, conn, "SELECT next_snowflake()")
	server.Eventually(t, conn, "(SELECT last_value >> 22 FROM pgflurry.lane) < pgflurry.ticks(clock_timestamp())")
	const each = 40_000 // about ten ticks of one worker
	var wait sync.WaitGroup
	var lock sync.Mutex
	begin, add := make(chan struct{}), func(some []int64) {
		lock.Lock()
		defer lock.Unlock()
		ids = append(ids, some...)
	}
	node, err := snowflake.NewNode(0)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(chan struct{}) // the library goes on until the others have theirs
	var others sync.WaitGroup
	wait.Go(func() {
		<-begin
		var some []int64
		for {
			select {
			case <-drawn:
				add(some)
				return
			default:
				some = append(some, node.Generate().Int64())
			}
		}
	})
	for _, url := range []string{direct, direct, proxy.URL, proxy.URL} {
		conn := server.Connect(t, url)
		others.Add(1)
		wait.Go(func() {
			defer others.Done()
			<-begin
			some, err := draw(t.Context(), conn, each)
			if err != nil {
				t.Error(err)
			}
			add(some)
		})
	}
	close(begin)
	others.Wait()
	close(drawn)
	wait.Wait()
	return ids
}

// draw draws n IDs, a thousand in a statement.
func draw(ctx context.Context, conn *pgx.Conn, n int) (ids []int64, err error) {
	for len(ids) < n && err == nil {
		var some []int64
		rows, _ := conn.Query(ctx, "SELECT * FROM next_snowflakes(1000)")
		some, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		ids = append(ids, some...)
	}
	return ids, err
}

// Layout, epoch and clock are the same, so only the worker keeps two generators apart. Without foreign workers the
// function has the library's number, and thousands of these IDs come twice.
func TestNoIDIsBothBwmarrinsAndPgflurrysIfItsNodeIsForeign(t *testing.T) {
	t.Parallel()
	ids := besideBwmarrin(t, &namespace.Ranges{{Lowest: 0, Highest: 0}})
	if n := twice(ids); n > 0 {
		t.Errorf("%d of %d IDs came twice", n, len(ids))
	}
	t.Logf("%d IDs, none twice", len(ids))
}

func TestAnIDOfBwmarrinIsDecodedExactly(t *testing.T) {
	layout, err := generator.ParseLayout("twitter")
	if err != nil {
		t.Fatal(err)
	}
	layout.Epoch = time.UnixMilli(snowflake.Epoch)
	for _, number := range []int64{0, 1, 31, 991, 1023} {
		node, err := snowflake.NewNode(number)
		if err != nil {
			t.Fatal(err)
		}
		for range 10_000 {
			id := node.Generate()
			parts, err := layout.Decode(id.Int64())
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(parts.Time.UnixMilli(), parts.Worker, parts.Sequence)
			if want := fmt.Sprint(id.Time(), id.Node(), id.Step()); got != want {
				t.Fatalf("%d is decoded as %s; the library says %s", id, got, want)
			}
		}
	}
}

// docs/from-another-generator.md says what of a Sonyflake can be read, and how the rest is.
func TestOfASonyflakeTheTimeIsRightAndTheRestIsReadAsThePageSays(t *testing.T) {
	layout, err := generator.ParseLayout("39/0/12/12")
	if err != nil {
		t.Fatal(err)
	}
	layout.Epoch, layout.Unit = time.Date(2014, time.September, 1, 0, 0, 0, 0, time.UTC), 10*time.Millisecond
	const machine = 0xABCD
	old := sonyflake.NewSonyflake(sonyflake.Settings{MachineID: func() (uint16, error) { return machine, nil }})
	for range 300 { // more than one tick has
		id, err := old.NextID()
		if err != nil {
			t.Fatal(err)
		}
		parts, err := layout.Decode(int64(id))
		if err != nil {
			t.Fatal(err)
		}
		says := sonyflake.Decompose(id)
		if at := layout.Epoch.Add(time.Duration(says["time"]) * layout.Unit); !parts.Time.Equal(at) {
			t.Fatalf("%d is of %v; the library says %v", id, parts.Time, at)
		}
		if id&65535 != machine || (id>>16)&255 != says["sequence"] {
			t.Fatalf("%d has machine %d and sequence %d; the library says %v", id, id&65535, (id>>16)&255, says)
		}
	}
}
