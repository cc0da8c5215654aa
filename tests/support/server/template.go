package server

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"sync"
	"testing"

	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
)

//go:embed original.sql
var originalSQL string

// template is a database of the test package that is migrated, and that nobody uses.
var template struct {
	sync.Mutex
	name string // empty: not made yet
}

// Migrated returns a Database with the namespace of the default layout and all functions. Migrate would leave it the
// same, but a copy of a migrated one takes a third of the processor time.
func Migrated(t testing.TB) string {
	t.Helper()
	url := database(t, " STRATEGY FILE_COPY TEMPLATE "+migratedTemplate(t)) // two thirds of the time of WAL_LOG
	Exec(t, url, originalSQL+sqlfuncs.Install().SQL)
	return url
}

func migratedTemplate(t testing.TB) string {
	t.Helper()
	template.Lock()
	defer template.Unlock()
	if template.name == "" {
		name := fmt.Sprintf("test_%d_template", os.Getpid())
		asMaker(t, "DROP DATABASE IF EXISTS "+name) // left by a test that failed to make it
		asMaker(t, "CREATE DATABASE "+name)
		Migrate(t, In(t, admin(t), name), migrations.Settings{})
		template.name = name
	}
	return template.name
}

// dropTemplate is for a server that lives on.
func dropTemplate() error {
	if template.name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return execute(ctx, running.admin, "DROP DATABASE "+template.name)
}
