package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake"

	"pgflurry/generator"
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

// docs/from-another-generator.md says what of a Sonyflake can be read, and how the rest is.
func TestOfASonyflakeTheTimeIsRightAndTheRestIsReadAsThePageSays(t *testing.T) {
	const machine = 0xABCD
	layout, err := generator.ParseLayout("39/0/12/12")
	if err != nil {
		t.Fatal(err)
	}
	layout.Epoch, layout.Unit = time.Date(2014, time.September, 1, 0, 0, 0, 0, time.UTC), 10*time.Millisecond
	old := sonyflake.NewSonyflake(sonyflake.Settings{MachineID: func() (uint16, error) { return machine, nil }})
	for range 300 { // more than one tick
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
