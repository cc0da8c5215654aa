package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"pgflurry/internal/postgres"
)

// seed puts a new cluster's files into a folder, as initdb does. All test packages of a user copy those of one cluster,
// because initdb takes seconds of processor time, and the tests start a hundred clusters. Each copy gets a system
// identifier of its own.
func seed(ctx context.Context, provider postgres.Provider, data string) error {
	if provider.Docker.Image != "" {
		return nil // its server's files belong to a user of the image
	}
	made, err := seedOf(ctx, provider)
	if err != nil {
		return err
	}
	if err := copyTree(made, data); err != nil {
		return errors.Join(err, os.RemoveAll(data))
	}
	if err := renewIdentity(data); err != nil {
		return errors.Join(fmt.Errorf("the copy %s of %s: %w", data, made, err), os.RemoveAll(data))
	}
	return nil
}

// seedOf returns a folder with a cluster that was stopped in order. It makes one if these binaries have none.
func seedOf(ctx context.Context, provider postgres.Provider) (string, error) {
	of := sha256.Sum256([]byte(provider.Binaries.Dir + " " + provider.Binaries.Version))
	made, lock, err := Cached(fmt.Sprintf("cluster-%x", of[:8]), syscall.LOCK_EX)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if _, err := os.Stat(made); err == nil {
		return made, nil
	}
	dir, err := publicDir()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	first := filepath.Join(dir, "data")
	cluster, err := postgres.Start(ctx, postgres.Settings{
		Provider: provider, Data: first, Options: map[string]string{"fsync": "off"},
	})
	if err != nil {
		return "", err
	}
	if err := cluster.Stop(ctx); err != nil {
		return "", err
	}
	half := made + ".new"
	if err := errors.Join(os.RemoveAll(half), copyTree(first, half)); err != nil {
		return "", errors.Join(err, os.RemoveAll(half))
	}
	return made, os.Rename(half, made)
}

// copyTree copies a folder with the owners and rights of its files.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		within, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, within)
		if entry.IsDir() {
			err = os.Mkdir(target, info.Mode().Perm())
		} else {
			var content []byte
			if content, err = os.ReadFile(path); err == nil {
				err = os.WriteFile(target, content, info.Mode().Perm())
			}
		}
		if owner, is := info.Sys().(*syscall.Stat_t); is && err == nil && os.Getuid() == 0 {
			err = os.Chown(target, int(owner.Uid), int(owner.Gid))
		}
		return err
	})
}

// segmentName is the name of a file of WAL.
var segmentName = regexp.MustCompile(`^[0-9A-F]{24}$`)

// renewIdentity gives a stopped cluster another system identifier, in the control file and at the beginning of each
// file of WAL. Servers of one identifier would take one another for copies.
func renewIdentity(data string) error {
	const inWAL = 24 // where the identifier stands in the first page of a file of WAL
	path := filepath.Join(data, "global", "pg_control")
	control, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	end := checksumAt(control)
	if end == 0 {
		return errors.New("pg_control has no checksum where one can be")
	}
	old := binary.NativeEndian.Uint64(control)
	renewed := uint64(time.Now().Unix())<<32 | uint64(rand.Uint32())
	binary.NativeEndian.PutUint64(control, renewed)
	binary.NativeEndian.PutUint32(control[end:], crc32.Checksum(control[:end], castagnoli))
	if err := overwrite(path, 0, control); err != nil {
		return err
	}
	files, err := os.ReadDir(filepath.Join(data, "pg_wal"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if !segmentName.MatchString(file.Name()) {
			continue
		}
		path := filepath.Join(data, "pg_wal", file.Name())
		begin := make([]byte, inWAL+8)
		if err := readBegin(path, begin); err != nil {
			return err
		}
		switch binary.NativeEndian.Uint64(begin[inWAL:]) {
		case 0: // not used yet
		case old:
			if err := overwrite(path, inWAL, binary.NativeEndian.AppendUint64(nil, renewed)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s has another system identifier", path)
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumAt returns where the checksum of a control file stands, behind all that it covers; 0: nowhere. That place
// differs between PostgreSQL's versions.
func checksumAt(control []byte) int {
	const first, last = 128, 508
	for at := first; at <= min(last, len(control)-4); at += 4 {
		if binary.NativeEndian.Uint32(control[at:]) == crc32.Checksum(control[:at], castagnoli) {
			return at
		}
	}
	return 0
}

func readBegin(path string, into []byte) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.ReadAt(into, 0)
	return err
}

func overwrite(path string, at int64, with []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(with, at)
	return errors.Join(err, file.Close())
}
