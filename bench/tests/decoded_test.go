package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake"

	"pgflurry/generator"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

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

// likeSonyflake is the layout that reads the time of a Sonyflake.
var likeSonyflake = migrations.Settings{
	Layout: "39/0/12/12", Unit: 10 * time.Millisecond, Epoch: time.Date(2014, time.September, 1, 0, 0, 0, 0, time.UTC),
}

const machine = 0xABCD

// sonyflakes are IDs of the library, of more than one tick.
func sonyflakes(t *testing.T) (ids []uint64) {
	t.Helper()
	old := sonyflake.NewSonyflake(sonyflake.Settings{MachineID: func() (uint16, error) { return machine, nil }})
	for range 300 {
		id, err := old.NextID()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// docs/from-another-generator.md says what of a Sonyflake can be read, and how the rest is.
func TestOfASonyflakeTheTimeIsRightAndTheRestIsReadAsThePageSays(t *testing.T) {
	layout, err := generator.ParseLayout(likeSonyflake.Layout)
	if err != nil {
		t.Fatal(err)
	}
	layout.Epoch, layout.Unit = likeSonyflake.Epoch, likeSonyflake.Unit
	for _, id := range sonyflakes(t) {
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

// No number keeps the two apart, so the page lets Sonyflake end, and begins above.
func TestAfterASonyflakeAllIDsAreAboveThoseInTheTable(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigint PRIMARY KEY)")
	ids := sonyflakes(t)
	for _, id := range ids {
		server.Do(t, conn, fmt.Sprintf("INSERT INTO item VALUES (%d)", id))
	}
	highest := ids[len(ids)-1]
	ends := likeSonyflake.Epoch.Add(sonyflake.ElapsedTime(highest) + likeSonyflake.Unit)
	server.Eventually(t, conn, "clock_timestamp() > $1", ends)
	settings := likeSonyflake
	settings.AfterTables = []string{"public.item.id"}
	server.Migrate(t, url, settings)
	const above = "SELECT count(*) FROM next_snowflakes(5000) AS n WHERE n > (SELECT max(id) FROM item)"
	if n := server.Value[int](t, conn, above); n != 5000 {
		t.Errorf("%d of 5000 IDs are above the last Sonyflake, %d", n, highest)
	}
}
