package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// pipeTime is how long a pipe may stay empty: its writer may start after us. pipePause is the time between two
	// reads.
	pipeTime  = 5 * time.Second
	pipePause = 10 * time.Millisecond
	// patience is how long a file may give no byte. It is longer than pipeTime, so that a pipe has its own error.
	patience = pipeTime + time.Second
	// mostWaits is how often a file may use its patience, if it has given bytes each time: a busy machine is slow.
	mostWaits = 10
)

// A File is read again and again. While one reading hangs, no other one begins: each keeps a thread for as long as the
// file system does not answer. The methods are safe for concurrent use.
type File struct {
	path string
	read func(given *atomic.Int64) ([]byte, error)

	mu      sync.Mutex
	running *reading // nil: none
}

// reading is one reading. Its result is there when done is closed.
type reading struct {
	given   atomic.Int64 // bytes so far
	done    chan struct{}
	content []byte
	err     error
}

// NewFile makes the File of a regular file of at most so many bytes. It reads nothing yet.
func NewFile(path string, most int64) *File {
	return &File{path: path, read: func(given *atomic.Int64) ([]byte, error) {
		return read(path, most, false, given)
	}}
}

// ReadFile reads a regular file of at most so many bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	return NewFile(path, most).Read(context.Background())
}

// ReadFileOrPipe reads a regular file, or a pipe up to its end. A pipe can be read only once.
func ReadFileOrPipe(path string, most int64) ([]byte, error) {
	f := &File{path: path, read: func(given *atomic.Int64) ([]byte, error) {
		return read(path, most, true, given)
	}}
	return f.Read(context.Background())
}

// Path returns the name of the file.
func (f *File) Path() string { return f.path }

// Read reads the file. It returns when ctx ends, after a few seconds without a byte, and after a minute at the latest.
func (f *File) Read(ctx context.Context) ([]byte, error) {
	f.mu.Lock()
	r := f.running
	if r == nil {
		r = &reading{done: make(chan struct{})}
		f.running = r
		go func() {
			r.content, r.err = f.read(&r.given)
			f.mu.Lock()
			f.running = nil
			f.mu.Unlock()
			close(r.done)
		}()
	}
	f.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	failed := func(why error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: f.path, Err: why} }
	before := int64(0)
	for range mostWaits {
		select {
		case <-r.done:
			return r.content, r.err
		case <-ctx.Done():
			return failed(context.Cause(ctx))
		case <-late.C:
		}
		given := r.given.Load()
		if given == before {
			return failed(fmt.Errorf("it gives nothing within %v; does its file system hang", patience))
		}
		before = given
		late.Reset(patience)
	}
	return failed(fmt.Errorf("it is not read within %v; does its file system hang", mostWaits*patience))
}

// counting counts what a file gives.
type counting struct {
	from  io.Reader
	given *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.given.Add(int64(n))
	return n, err
}

// read reads at most so many bytes.
func read(path string, most int64, orPipe bool, given *atomic.Int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a blocking open would wait for a pipe's writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var content []byte
	switch mode := info.Mode(); {
	case mode.IsRegular():
		content, err = io.ReadAll(io.LimitReader(counting{f, given}, most+1))
	case orPipe:
		content, err = readPipe(f, most, mode&fs.ModeNamedPipe != 0)
	default:
		err = fmt.Errorf("it is no regular file but %s, and has to be read again later", kindOf(mode))
	}
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("it is larger than %s", size(most))
	}
	if err == nil && (bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff"))) {
		err = errors.New("it is written in UTF-16; expected UTF-8")
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff")) // the byte order mark of Windows editors
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return content, err
}

// readPipe reads what is not a regular file. At a SIGHUP a writer from the start, such as that of <(…) in a shell, is
// gone.
func readPipe(f *os.File, most int64, pipe bool) ([]byte, error) {
	late := time.Now().Add(pipeTime)
	_ = f.SetReadDeadline(late) // some devices have no deadline
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	for err == nil && len(content) == 0 && pipe && time.Now().Before(late) {
		time.Sleep(pipePause)
		content, err = io.ReadAll(io.LimitReader(f, most+1))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || err == nil && len(content) == 0 && pipe {
		err = fmt.Errorf("it is a pipe, and nobody wrote all of it within %v", pipeTime)
	}
	return content, err
}

// ExposedFile says whether every account of this machine may read or change a file that is there. Windows does not
// tell.
func ExposedFile(path string) (mode fs.FileMode, exposed bool) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode()&0o006 != 0
}

// kindOf names what is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// size words a limit.
func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return fmt.Sprintf("%d kB", bytes>>10)
}
