package driver

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql" // also the driver "mysql" of database/sql

	"pgflurry/bench/trial"
)

//go:embed mariadb/*.sql
var mariadbSQL embed.FS

// MariaDBDraw is clients that draw from MariaDB or MySQL with prepared statements of go-sql-driver, each on a
// connection of its own.
type MariaDBDraw struct {
	// Replace draws by REPLACE INTO and SELECT LAST_INSERT_ID(), in two round trips. Otherwise a draw is an INSERT into
	// an auto_increment table with offset 1 of 2.
	Replace bool
	Clients int
}

// From makes a turn of the draw. target is a data source name of go-sql-driver.
func (d MariaDBDraw) From(target string) trial.Turn {
	return drawFrom(d.Clients, func(ctx context.Context) (client, error) { return d.dial(ctx, target) })
}

func (d MariaDBDraw) dial(ctx context.Context, target string) (_ client, err error) {
	db, err := sql.Open("mysql", target)
	if err != nil {
		return nil, err
	}
	c := &mariadbClient{db: db}
	defer func() {
		if err != nil {
			c.close(ctx)
		}
	}()
	if c.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if d.Replace {
		if c.draw, err = c.conn.PrepareContext(ctx, statementsOf("replace.sql")[0]); err == nil {
			c.last, err = c.conn.PrepareContext(ctx, statementsOf("last_insert_id.sql")[0])
		}
		return c, err
	}
	if _, err = c.conn.ExecContext(ctx, statementsOf("offset.sql")[0]); err == nil {
		c.draw, err = c.conn.PrepareContext(ctx, statementsOf("auto_increment.sql")[0])
	}
	return c, err
}

type mariadbClient struct {
	db         *sql.DB
	conn       *sql.Conn
	draw, last *sql.Stmt // last is nil if draw itself returns the ID
}

// deadlock is the error of a statement that the server has chosen as the victim of a deadlock (ER_LOCK_DEADLOCK).
// Concurrent REPLACE INTO statements get it.
const deadlock = 1213

// trip repeats a statement after a deadlock, as an application has to. That is part of the trip's time.
func (c *mariadbClient) trip(ctx context.Context) (int, error) {
	result, err := c.draw.ExecContext(ctx)
	for said := new(mysql.MySQLError); errors.As(err, &said) && said.Number == deadlock; {
		result, err = c.draw.ExecContext(ctx)
	}
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	if c.last != nil && err == nil {
		err = c.last.QueryRowContext(ctx).Scan(&id)
	}
	if err == nil && id < 1 {
		err = fmt.Errorf("%d came; expected a number above zero", id)
	}
	return 1, err
}

func (c *mariadbClient) close(context.Context) { _ = c.db.Close() }

// statementsOf splits a file for MariaDB: the driver takes one statement at a time.
func statementsOf(file string) (all []string) {
	text, err := mariadbSQL.ReadFile("mariadb/" + file)
	if err != nil {
		panic(err) // the file is embedded
	}
	for _, statement := range strings.Split(string(text), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			all = append(all, statement)
		}
	}
	return all
}

// CreateMariaDBDatabase creates the database pgflurry_bench.
func CreateMariaDBDatabase(ctx context.Context, target string) error {
	return execMariaDB(ctx, target, "database.sql")
}

// SetUpMariaDB creates the tables of MariaDBDraw, and replaces those that exist.
func SetUpMariaDB(ctx context.Context, target string) error {
	return execMariaDB(ctx, target, "setup.sql")
}

// CleanUpMariaDB drops these tables.
func CleanUpMariaDB(ctx context.Context, target string) error {
	return execMariaDB(ctx, target, "clean_up.sql")
}

// execMariaDB runs the statements of a file.
func execMariaDB(ctx context.Context, target, file string) error {
	db, err := sql.Open("mysql", target)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range statementsOf(file) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// MariaDBVersion asks the server for its version.
func MariaDBVersion(ctx context.Context, target string) (version string, err error) {
	db, err := sql.Open("mysql", target)
	if err != nil {
		return "", fmt.Errorf("%w; expected user:password@tcp(host:port)/database", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, statementsOf("version.sql")[0]).Scan(&version)
	return "MariaDB or MySQL " + version, err
}
