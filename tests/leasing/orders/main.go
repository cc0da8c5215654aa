// orders is a program of somebody else. The tests build it in a module of its own, outside of this repository.
//
//	orders LEASE-DATABASE NODE
//
// It draws until it gets SIGTERM, and prints the first and the last ID of each run. After an error it draws again.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"pgflurry/inprocess"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func run(database, node string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	g, err := inprocess.Open(ctx, inprocess.Settings{
		LeaseDatabase: database, Node: node, Window: 2 * time.Second, FirstWindow: time.Second,
	})
	if err != nil {
		return err
	}
	fmt.Println("opened: worker", g.Stats().Worker)
	for ctx.Err() == nil {
		ids, err := g.AppendN(ctx, nil, 200)
		for len(ids) > 0 {
			n := 1
			for n < len(ids) && ids[n] == ids[n-1]+1 {
				n++
			}
			fmt.Println("ids:", ids[0], ids[n-1])
			ids = ids[n:]
		}
		if err != nil {
			fmt.Println("no ID:", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return g.Close(ctx)
}
