//go:build unix

package connect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPipeWithoutAWriterIsAnErrorAndIsNotAwaitedForEver(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	content, err := ReadFileOrPipe(pipe, 1<<20)
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
	content, err := ReadFileOrPipe(pipe, 1<<20)
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
		if content, err := ReadFile(path, 1<<20); err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %d bytes, %v; expected an error with %q", path, len(content), err, kind)
		}
	}
}

func TestWhatHasNoEndIsReadInPart(t *testing.T) {
	t.Parallel()
	if content, err := ReadFileOrPipe("/dev/zero", 1<<20); err == nil ||
		!strings.Contains(err.Error(), "larger than 1 MB") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// A mount that hangs is not to be had here, so a reading that waits for the test stands for it.
func TestAFileThatHangsKeepsNobodyWaitingAndIsReadByOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, answers := 0, make(chan struct{})
		f := &File{path: "/mnt/accounts", read: func(*atomic.Int64) ([]byte, error) {
			begun++
			<-answers
			return []byte("it is back"), nil
		}}
		ctx, end := context.WithCancel(t.Context())
		end()
		for range 3 {
			if content, err := f.Read(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%q, %v; expected that it waits no longer than its context", content, err)
			}
			synctest.Wait()
		}
		asked := time.Now()
		_, err := f.Read(t.Context())
		if waited := time.Since(asked); err == nil || !strings.Contains(err.Error(), "hang") || waited != patience {
			t.Errorf("%v after %v; expected an error after %v", err, waited, patience)
		}
		if begun != 1 {
			t.Errorf("%d readings began; expected that one hung, and no other one beside it", begun)
		}
		close(answers)
		if content, err := f.Read(t.Context()); err != nil || string(content) != "it is back" {
			t.Errorf("%q, %v", content, err)
		}
	})
}

func TestAByteOrderMarkIsNoContent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for written, expected := range map[string]string{
		"\ufeffkey = 1": "key = 1", "key\ufeff": "key\ufeff", "\ufeff": "",
		"\xff\xfek\x00": "error", "\xfe\xff\x00k": "error",
	} {
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		content, err := ReadFile(path, 1<<20)
		if expected == "error" {
			if err == nil || !strings.Contains(err.Error(), "UTF-16") {
				t.Errorf("%q: %v; expected an error with UTF-16", written, err)
			}
		} else if err != nil || string(content) != expected {
			t.Errorf("%q is read as %q: %v", written, content, err)
		}
	}
}

func TestAFileThatEveryAccountMayReadIsExposed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, expected := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o602: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, exposed := ExposedFile(path); exposed != expected || got != mode {
			t.Errorf("%v: exposed %v, and it says %v", mode, exposed, got)
		}
	}
	if _, exposed := ExposedFile(path + ".not there"); exposed {
		t.Error("a file that is not there is exposed")
	}
}

func TestAFileThatGivesBytesSlowlyIsReadAndOneThatGivesNoneIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &File{path: "slow", read: func(given *atomic.Int64) ([]byte, error) {
			for range 5 {
				time.Sleep(patience - 1)
				given.Add(1)
			}
			return []byte("12345"), nil
		}}
		if content, err := slow.Read(t.Context()); string(content) != "12345" || err != nil {
			t.Errorf("a slow file: %q, %v", content, err)
		}
		began, over := time.Now(), make(chan struct{})
		defer close(over)
		hung := &File{path: "hung", read: func(given *atomic.Int64) ([]byte, error) {
			given.Add(1)
			<-over
			return nil, nil
		}}
		if _, err := hung.Read(t.Context()); err == nil || time.Since(began) != 2*patience {
			t.Errorf("a file that hangs: %v after %v", err, time.Since(began))
		}
	})
}
