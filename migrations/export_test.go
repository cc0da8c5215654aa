package migrations

import (
	"context"
	"io/fs"

	"pgflurry/generator"
	"pgflurry/internal/session"
)

// UpOfALaterProgram is Up of a program that has the migrations of later as well.
func UpOfALaterProgram(ctx context.Context, url string, later fs.FS) error {
	list, err := withLater(later)
	if err != nil {
		return err
	}
	return up(ctx, url, Settings{}, list, func(*session.Database) error { return nil })
}

// DownOfALaterProgram is Down of that program.
func DownOfALaterProgram(ctx context.Context, url string, later fs.FS) (removed bool, err error) {
	list, err := withLater(later)
	if err != nil {
		return false, err
	}
	return down(ctx, url, false, list, nil)
}

// PrintOfALaterProgram returns what that program prints.
func PrintOfALaterProgram(later fs.FS) (string, error) {
	list, err := withLater(later)
	if err != nil {
		return "", err
	}
	layout := generator.DefaultLayout()
	workers, _, err := Settings{}.Shares(layout)
	return "DO $pgflurry$" + printed(list, "", namespaceRow(Settings{}, layout, workers, nil)) + "$pgflurry$", err
}

func withLater(later fs.FS) ([]migration, error) {
	list, err := numbered(later)
	return append(all(), list...), err
}

// LockKey is the key of the lock that excludes two migrations.
const LockKey = session.LockKey
