package client_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pgflurry/client"
)

// A service makes one Pool when it starts, over a pool of connections for draws alone. Its rows go over another.
func Example() {
	ctx := context.Background()
	draws, err := pgxpool.New(ctx, "postgres://app@proxy:6432/pgflurry?pool_max_conns=2") // the ID database
	if err != nil {
		panic(err)
	}
	defer draws.Close()
	rows, err := pgxpool.New(ctx, "postgres://app@db:5432/shop")
	if err != nil {
		panic(err)
	}
	defer rows.Close()

	ids, err := client.New(client.Pgx(draws), client.Settings{})
	if err != nil {
		panic(err)
	}

	// parent and child in one round trip: no RETURNING is needed for the key
	order, err := ids.Next(ctx)
	if err != nil {
		panic(err)
	}
	lines, err := ids.NextN(ctx, 2)
	if err != nil {
		panic(err)
	}
	var batch pgx.Batch
	batch.Queue("INSERT INTO orders (id, customer) VALUES ($1, $2)", order, "Ada")
	for i, article := range []string{"lamp", "shade"} {
		batch.Queue("INSERT INTO line (id, order_id, article) VALUES ($1, $2, $3)", lines[i], order, article)
	}
	if err := rows.SendBatch(ctx, &batch).Close(); err != nil {
		panic(err)
	}
	fmt.Println("order", order)
}
