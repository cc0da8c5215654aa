package migrations

import (
	"context"
	"io/fs"
)

// UpOfALaterProgram is Up as a program does it that has the migrations of later as well.
func UpOfALaterProgram(ctx context.Context, url string, later fs.FS) error {
	list, err := numbered(later)
	if err != nil {
		return err
	}
	return up(ctx, url, Settings{}, append(all(), list...))
}
