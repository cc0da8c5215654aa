package generator_test

import (
	"context"
	"fmt"
	"time"

	"pgflurry/generator"
)

func Example() {
	layout := generator.DefaultLayout()
	// In a program the lease's clock stands here, which follows the database's.
	clock := time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC).Sub(layout.Epoch).Milliseconds()
	ids, err := generator.New(generator.Settings{
		Layout: layout,
		Now:    func() int64 { return clock },
		Random: func(uint32) uint32 { return 0 }, // so that the output is the same each time
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The lease's word: worker 7 may be used for the next 60 seconds.
	if err := ids.Grant(7, clock, clock+60_000); err != nil {
		fmt.Println(err)
		return
	}
	id, err := ids.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, _ := layout.Decode(id)
	fmt.Println(id, parts.Time.Format(time.RFC3339Nano), parts.Worker, parts.Sequence)
	first, count, _ := ids.NextN(context.Background(), 100)
	fmt.Println(first, count)
	clock += 60_000
	_, err = ids.Next(context.Background())
	fmt.Println(err)
	// Output:
	// 330678927360028672 2026-07-01T12:00:00Z 7 0
	// 330678927360028673 100
	// the grant has ended: worker 7 may be used before tick 78840060000, the next ID would have tick 78840060000
}

func ExampleParseLayout() {
	layout, _ := generator.ParseLayout("javascript")
	fmt.Println(layout, layout.Workers(), layout.End().Format(time.DateOnly))
	_, err := generator.ParseLayout("42/0/10/12")
	fmt.Println(err)
	// Output:
	// 41/0/6/6 64 2093-09-06
	// layout 42/0/10/12 needs 42 timestamp + 0 datacenter + 10 worker + 12 sequence = 64 bits; an ID has 63
}
