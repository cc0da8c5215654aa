//go:build unix

package readfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeWithoutAWriterIsAnErrorAndIsNotAwaitedForEver(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	content, err := OrPipe(pipe, 1<<20)
	if err == nil || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("%q, %v", content, err)
	}
}

func TestAPipeIsReadToItsEndWhoeverIsFirst(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("window = \"45s\"\n"), 0) }() // waits for a reader
	content, err := OrPipe(pipe, 1<<20)
	if err != nil || string(content) != "window = \"45s\"\n" {
		t.Errorf("%q, %v", content, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestOnlyARegularFileIsReadAgain(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{
		pipe: "a pipe", "/dev/zero": "a device", t.TempDir(): "a directory", "/not/there": "no such file",
	} {
		if content, err := Regular(path, 1<<20); err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %d bytes, %v; expected an error with %q", path, len(content), err, kind)
		}
	}
}

func TestWhatHasNoEndIsReadInPart(t *testing.T) {
	t.Parallel()
	if content, err := OrPipe("/dev/zero", 1<<20); err == nil || !strings.Contains(err.Error(), "larger than 1 MB") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// A mount that hangs is not to be had here, so a reading that waits for the test stands for it.
func TestAFileThatHangsKeepsNobodyWaitingAndIsReadByOneAtATime(t *testing.T) {
	t.Parallel()
	begun, answers := make(chan struct{}, 10), make(chan struct{})
	f := &File{path: "/mnt/accounts", read: func() ([]byte, error) {
		begun <- struct{}{}
		<-answers
		return []byte("it is back"), nil
	}}
	ctx, end := context.WithCancel(t.Context())
	end()
	for range 3 {
		if content, err := f.Read(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%q, %v; expected that it waits no longer than its context", content, err)
		}
	}
	close(answers)
	if content, err := f.Read(t.Context()); err != nil || string(content) != "it is back" {
		t.Errorf("%q, %v", content, err)
	}
	if n := len(begun); n < 1 || n > 2 { // the last one may have begun after the first had ended
		t.Errorf("%d readings began; expected that one hung, and no other one beside it", n)
	}
}
