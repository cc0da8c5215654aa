//go:build unix

package main

import (
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
	content, err := readAtMost(pipe, largestConfig)
	if err == nil || !strings.Contains(err.Error(), "pipe") || strings.Contains(err.Error(), pipe) {
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
	content, err := readAtMost(pipe, largestConfig)
	if err != nil || string(content) != "window = \"45s\"\n" {
		t.Errorf("%q, %v", content, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
