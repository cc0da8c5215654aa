package migrations

import (
	"context"
	"io/fs"

	"pgflurry/generator"
)

// UpOfALaterProgram is Up as a program does it that has the migrations of later as well.
func UpOfALaterProgram(ctx context.Context, url string, later fs.FS) error {
	list, err := withLater(later)
	if err != nil {
		return err
	}
	return up(ctx, url, Settings{}, list)
}

// DownOfALaterProgram is Down as that program does it.
func DownOfALaterProgram(ctx context.Context, url string, later fs.FS) (removed bool, err error) {
	list, err := withLater(later)
	if err != nil {
		return false, err
	}
	return down(ctx, url, false, list)
}

// PrintOfALaterProgram is what that program prints.
func PrintOfALaterProgram(later fs.FS) (string, error) {
	list, err := withLater(later)
	if err != nil {
		return "", err
	}
	layout := generator.DefaultLayout()
	workers, err := Settings{}.databaseWorkers(layout)
	return "DO $pgflurry$" + printed(list, "", namespaceRow(Settings{}, layout, workers)) + "$pgflurry$", err
}

func withLater(later fs.FS) ([]migration, error) {
	list, err := numbered(later)
	return append(all(), list...), err
}

// LockKey names the lock that migrations exclude each other with.
const LockKey = lockKey

// SessionSQL is what every session of a migration begins with.
var SessionSQL = sessionSQL
