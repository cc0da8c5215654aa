// sqlc does the deeds with the queries that sqlc generated for pgx, and with goose's migrations.
package main

import (
	"clients/report"
	"context"
	"embed"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"frameworks/sqlc/shop"
)

//go:embed migrations
var migrations embed.FS

// folder returns goose's migrations: ours, and "-- +goose Up" with the text of "pgflurry migrate print --escaped" below
// it.
func folder() (fstest.MapFS, error) {
	printed, err := os.ReadFile(os.Getenv("FRAMEWORK_ESCAPED"))
	if err != nil {
		return nil, err
	}
	tables, err := migrations.ReadFile("migrations/00002_tables.sql")
	return fstest.MapFS{
		"00001_pgflurry.sql": {Data: append([]byte("-- +goose Up\n"), printed...)},
		"00002_tables.sql":   {Data: tables},
	}, err
}

func migrate(ctx context.Context, settings string) error {
	files, err := folder()
	if err != nil {
		return err
	}
	db, err := goose.OpenDBWithDriver("pgx", settings)
	if err != nil {
		return err
	}
	defer db.Close()
	tool, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return err
	}
	_, err = tool.Up(ctx)
	return err
}

func insert(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	id, err := shop.New(conn).CreateAuthor(ctx, "Ada")
	return []int64{id}, err
}

func names() (all []string) {
	for i := range 1000 {
		all = append(all, fmt.Sprint("author ", i))
	}
	return all
}

func batch(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	return shop.New(conn).CreateAuthors(ctx, names())
}

// snippet: draw

// draw gives IDs before there are rows. The proxy answers this statement from memory.
func draw(ctx context.Context, conn *pgx.Conn, n int) ([]int64, error) {
	rows, _ := conn.Query(ctx, fmt.Sprintf("SELECT * FROM next_snowflakes(%d)", n))
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// snippet: end

func ahead(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	// snippet: ahead
	ids, err := draw(ctx, conn, 1000)
	if err != nil {
		return nil, err
	}
	var authors []shop.CreateDrawnAuthorsParams
	for i, name := range names() {
		authors = append(authors, shop.CreateDrawnAuthorsParams{ID: ids[i], Name: name})
	}
	_, err = shop.New(conn).CreateDrawnAuthors(ctx, authors) // COPY
	// snippet: end
	return ids, err
}

func foreignKey(ctx context.Context, conn *pgx.Conn) (ids []int64, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		queries := shop.New(conn).WithTx(tx)
		author, err := queries.CreateAuthor(ctx, "Ada")
		ids = append(ids, author)
		for _, title := range []string{"Notes", "Letters"} {
			if err != nil {
				return err
			}
			var book int64
			book, err = queries.CreateBook(ctx, shop.CreateBookParams{AuthorID: author, Title: title})
			ids = append(ids, book)
		}
		return err
	})
	return ids, err
}

func testDatabase(ctx context.Context, conn *pgx.Conn) (ids []int64, err error) {
	name := os.Getenv("PGDATABASE") + "_test"
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	if err := migrate(ctx, "dbname="+name); err != nil {
		return nil, err
	}
	test, err := pgx.Connect(ctx, "dbname="+name)
	if err != nil {
		return nil, err
	}
	if ids, err = insert(ctx, test); err != nil {
		return nil, err
	}
	test.Close(ctx)
	_, err = conn.Exec(ctx, "DROP DATABASE "+name)
	return ids, err
}

func main() {
	ctx := context.Background()
	on := func(
		result any, do func(context.Context, *pgx.Conn) ([]int64, error),
	) func() (any, []int64, error) {
		return func() (any, []int64, error) {
			conn, err := pgx.Connect(ctx, "") // PGHOST and its like
			if err != nil {
				return nil, nil, err
			}
			ids, err := do(ctx, conn)
			return result, ids, err
		}
	}
	report.Run("github.com/pressly/goose/v3",
		report.Deed{Name: "migrate", Do: func() (any, []int64, error) { return nil, nil, migrate(ctx, "") }},
		report.Deed{Name: "insert", Do: on(nil, insert)},
		report.Deed{Name: "batch", Do: on(nil, batch)},
		report.Deed{Name: "ahead", Do: on(nil, ahead)},
		report.Deed{Name: "foreign_key", Do: on(nil, foreignKey)},
		report.Deed{Name: "test_database", Do: on("goose up", testDatabase)},
	)
}
