// gorm does the deeds with GORM over pgx.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"clients/report"
)

// snippet: begin

// Item has a key that the database makes: GORM leaves a zero one out of the INSERT and reads it with RETURNING.
type Item struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false;default:next_snowflake()"`
	Name string
}

func orderWithLines(db *gorm.DB, lines []string) (ids []int64, err error) {
	var items []Item
	for _, line := range lines {
		items = append(items, Item{Name: line})
	}
	err = db.Create(&items).Error
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids, err
}

// draw gives an ID before there is a row.
func draw(db *gorm.DB) (id int64, err error) {
	err = db.Raw("SELECT next_snowflake()").Scan(&id).Error
	return id, err
}

// snippet: end

func (Item) TableName() string { return "item" }

// open opens a pool of one connection. PGHOST and its like fill in what the settings leave out.
func open(settings ...string) (*gorm.DB, error) {
	db, err := gorm.Open(postgres.Open(strings.Join(settings, " ")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return db, nil
}

func shut(db *gorm.DB) {
	if pool, err := db.DB(); err == nil {
		_ = pool.Close()
	}
}

func login(role string, more ...string) func() (any, []int64, error) {
	return func() (any, []int64, error) {
		db, err := open(append(more, "user="+role, "password="+report.Password)...)
		if err != nil {
			return nil, nil, err
		}
		defer shut(db)
		var user string
		if err := db.Raw("SELECT current_user").Scan(&user).Error; err != nil {
			return nil, nil, err
		}
		_, err = open(append(more, "user="+role, "password=wrong")...)
		return []any{user, refused(err)}, nil, nil
	}
}

// refused reports an error that the deed expects.
func refused(err error) any {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return []string{said.Severity, said.Code, said.Message}
	}
	return fmt.Sprint(err)
}

// with runs a deed on a connection of its own.
func with(do func(db *gorm.DB) (any, []int64, error)) func() (any, []int64, error) {
	return func() (any, []int64, error) {
		db, err := open()
		if err != nil {
			return nil, nil, err
		}
		defer shut(db)
		return do(db)
	}
}

func unprepared(db *gorm.DB) (any, []int64, error) {
	id, err := draw(db)
	return nil, []int64{id}, err
}

func prepared(db *gorm.DB) (any, []int64, error) {
	db = db.Session(&gorm.Session{PrepareStmt: true})
	ids := make([]int64, 20)
	for i := range ids {
		var err error
		if ids[i], err = draw(db); err != nil {
			return nil, nil, err
		}
	}
	return nil, ids, nil
}

var errUndo = errors.New("undo")

func transaction(db *gorm.DB) (any, []int64, error) {
	ids, err := orderWithLines(db, []string{"one", "two"})
	if err != nil {
		return nil, nil, err
	}
	var first int64
	var seen, left Item
	undone := db.Transaction(func(tx *gorm.DB) error {
		var err error
		if first, err = draw(tx); err != nil {
			return err
		}
		if err := tx.Create(&Item{ID: first, Name: "gone"}).Error; err != nil {
			return err
		}
		return errors.Join(tx.First(&seen, first).Error, errUndo)
	})
	missing := db.First(&left, first).Error
	var names []string
	if err := db.Model(&Item{}).Where("id IN ?", ids).Order("id").Pluck("name", &names).Error; err != nil {
		return nil, nil, err
	}
	var zero, failed error
	committed := db.Transaction(func(tx *gorm.DB) error {
		zero = tx.Exec("SELECT 1/0").Error
		_, failed = draw(tx)
		return nil
	})
	last, err := draw(db)
	return []any{
		undone.Error(), seen.Name, refused(missing), names, refused(zero), refused(failed), refused(committed),
	}, append(ids, first, last), err
}

func commit(db *gorm.DB) (any, []int64, error) {
	var ids [3]int64
	var refusal error
	for i, outcome := range []error{nil, errUndo, errUndo} {
		err := db.Transaction(func(tx *gorm.DB) (err error) {
			if ids[i], err = draw(tx); err != nil {
				return err
			}
			if i == 2 {
				_ = tx.Exec("SELECT 1/0").Error
				_, refusal = draw(tx)
			}
			return outcome
		})
		if !errors.Is(err, outcome) {
			return nil, nil, err
		}
	}
	last, err := draw(db)
	return refused(refusal), append(ids[:], last), err
}

func cancel(sleeper *gorm.DB) (any, []int64, error) {
	other, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer shut(other)
	until, stop := context.WithCancel(context.Background())
	defer stop()
	said := make(chan error, 1)
	go func() { said <- sleeper.WithContext(until).Exec("SELECT pg_sleep(60)").Error }()
	for n := 0; n == 0; {
		if err := other.Raw(report.Asleep).Scan(&n).Error; err != nil {
			return nil, nil, err
		}
	}
	stop()
	cancelled := fmt.Sprint(errors.Is(<-said, context.Canceled))
	id, err := draw(sleeper)
	return cancelled, []int64{id}, err
}

func byDefault(db *gorm.DB) (any, []int64, error) {
	if err := errors.Join(db.Migrator().DropTable(&Item{}), db.AutoMigrate(&Item{})); err != nil {
		return nil, nil, err
	}
	item := Item{Name: "new"}
	if err := db.Create(&item).Error; err != nil {
		return nil, nil, err
	}
	var again Item
	err := db.First(&again, item.ID).Error
	return again.Name, []int64{item.ID}, err
}

func fromPool() (any, []int64, error) {
	db, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer shut(db)
	pool, err := db.DB()
	if err != nil {
		return nil, nil, err
	}
	pool.SetMaxOpenConns(2)
	return report.FromPool(func() (int64, error) { return draw(db) })
}

func drawMany(n int) (ids []int64, err error) {
	db, err := open()
	if err != nil {
		return nil, err
	}
	defer shut(db)
	for range n {
		id, err := draw(db)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func main() {
	const below = "batches, COPY and NOTIFY are the driver's below it"
	report.Run(
		"gorm.io/gorm",
		report.Deed{Name: "password", Do: login(report.PasswordRole)},
		report.Deed{Name: "scram", Do: login(report.SCRAMRole())},
		report.Deed{
			Name: "tls", Do: login(report.SCRAMRole(), "sslmode=verify-full", "sslrootcert="+os.Getenv("CLIENT_CA")),
		},
		report.Deed{Name: "unprepared", Do: with(unprepared)},
		report.Deed{Name: "prepared", Do: with(prepared)},
		report.Deed{Name: "pipeline", None: below},
		report.Deed{Name: "mixed", None: below},
		report.Deed{Name: "transaction", Do: with(transaction)},
		report.Deed{Name: "commit", Do: with(commit)},
		report.Deed{Name: "copy", None: below},
		report.Deed{Name: "notify", None: below},
		report.Deed{Name: "cancel", Do: with(cancel)},
		report.Deed{Name: "default", Do: with(byDefault)},
		report.Deed{Name: "pool", Do: fromPool},
		report.Deed{Name: "parallel", Do: func() (any, []int64, error) { return report.InParallel(drawMany) }},
	)
}
