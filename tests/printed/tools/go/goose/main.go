// goose URL FOLDER applies the migrations of a folder, as the goose command does.
package main

import (
	"database/sql"
	"log"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

func main() {
	if err := goose.SetDialect("postgres"); err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("pgx", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := goose.Up(db, os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
