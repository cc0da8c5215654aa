// gorm does the deeds with GORM over pgx.
package main

import (
	"clients/report"
	"fmt"
	"os"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// snippet: model

// Author has a key that the DEFAULT makes. GORM leaves a zero one out of the INSERT and reads it with RETURNING.
type Author struct {
	ID    int64  `gorm:"primaryKey;autoIncrement:false;default:next_snowflake()"`
	Name  string `gorm:"not null"`
	Books []Book
}

// snippet: end

type Book struct {
	ID       int64  `gorm:"primaryKey;autoIncrement:false;default:next_snowflake()"`
	AuthorID int64  `gorm:"not null"`
	Title    string `gorm:"not null"`
}

func (Author) TableName() string { return "author" }
func (Book) TableName() string   { return "book" }

// open opens a pool. PGHOST and its like fill in what the settings leave out.
func open(settings string) (*gorm.DB, error) {
	return gorm.Open(postgres.Open(settings), &gorm.Config{Logger: logger.Discard})
}

// snippet: migrate

// upgrade installs pgflurry by the text of "pgflurry migrate print", then makes the tables.
func upgrade(db *gorm.DB, text string) error {
	return db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec(text).Error; err != nil {
			return err
		}
		return tx.AutoMigrate(&Author{}, &Book{})
	})
}

// snippet: end

func migrate(db *gorm.DB) error {
	text, err := os.ReadFile(os.Getenv("FRAMEWORK_MIGRATION"))
	if err != nil {
		return err
	}
	return upgrade(db, string(text))
}

func insert(db *gorm.DB) (any, []int64, error) {
	author := Author{Name: "Ada"}
	err := db.Create(&author).Error
	return nil, []int64{author.ID}, err
}

func batch(db *gorm.DB) (any, []int64, error) {
	authors := make([]Author, 1000)
	for i := range authors {
		authors[i].Name = fmt.Sprint("author ", i)
	}
	err := db.Create(&authors).Error // all of them have their IDs now
	return nil, idsOf(authors), err
}

// snippet: draw

// draw gives IDs before there are rows. The proxy answers this statement from memory.
func draw(db *gorm.DB, n int) (ids []int64, err error) {
	err = db.Raw("SELECT * FROM next_snowflakes(?)", n).Scan(&ids).Error
	return ids, err
}

// snippet: end

func ahead(db *gorm.DB) (any, []int64, error) {
	// snippet: ahead
	ids, err := draw(db, 1000)
	if err != nil {
		return nil, nil, err
	}
	authors := make([]Author, len(ids))
	for i, id := range ids {
		authors[i] = Author{ID: id, Name: fmt.Sprint("author ", i)}
	}
	err = db.Create(&authors).Error
	// snippet: end
	return nil, idsOf(authors), err
}

func foreignKey(db *gorm.DB) (any, []int64, error) {
	author := Author{Name: "Ada", Books: []Book{{Title: "Notes"}, {Title: "Letters"}}}
	err := db.Create(&author).Error // one transaction
	return nil, []int64{author.ID, author.Books[0].ID, author.Books[1].ID}, err
}

func testDatabase(db *gorm.DB) (result any, ids []int64, err error) {
	name := os.Getenv("PGDATABASE") + "_test"
	if err := db.Exec("CREATE DATABASE " + name).Error; err != nil {
		return nil, nil, err
	}
	test, err := open("dbname=" + name)
	if err != nil {
		return nil, nil, err
	}
	if err := migrate(test); err != nil {
		return nil, nil, err
	}
	if _, ids, err = insert(test); err != nil {
		return nil, nil, err
	}
	pool, err := test.DB()
	if err != nil {
		return nil, nil, err
	}
	pool.Close()
	return "AutoMigrate", ids, db.Exec("DROP DATABASE " + name).Error
}

func idsOf(authors []Author) (ids []int64) {
	for _, author := range authors {
		ids = append(ids, author.ID)
	}
	return ids
}

func main() {
	on := func(do func(*gorm.DB) (any, []int64, error)) func() (any, []int64, error) {
		return func() (any, []int64, error) {
			db, err := open("dbname=" + os.Getenv("PGDATABASE"))
			if err != nil {
				return nil, nil, err
			}
			return do(db)
		}
	}
	report.Run("gorm.io/gorm",
		report.Deed{Name: "migrate", Do: on(func(db *gorm.DB) (any, []int64, error) { return nil, nil, migrate(db) })},
		report.Deed{Name: "insert", Do: on(insert)},
		report.Deed{Name: "batch", Do: on(batch)},
		report.Deed{Name: "ahead", Do: on(ahead)},
		report.Deed{Name: "foreign_key", Do: on(foreignKey)},
		report.Deed{Name: "test_database", Do: on(testDatabase)},
	)
}
