//go:build unix

package node_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"pgflurry/internal/config"
	"pgflurry/internal/node"
)

// socketAt is the address of a Unix socket.
func socketAt(path string) config.Address { return config.Address{Network: "unix", Address: path} }

func TestASocketHasTheModeOfPostgreSQLsOrThatOfTheSettings(t *testing.T) {
	for mode, expected := range map[fs.FileMode]fs.FileMode{0: 0o777, 0o600: 0o600, 0o770: 0o770} {
		path := filepath.Join(t.TempDir(), "socket")
		ln, err := node.Listen(socketAt(path), mode)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != expected {
			t.Errorf("with the mode %v the socket has %v (%v); expected %v", mode, info.Mode(), err, expected)
		}
	}
}

func TestAListenerThatCannotBeOpenedSaysWhatHelps(t *testing.T) {
	t.Parallel()
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for address, says := range map[string]string{
		held.Addr().String(): "or stop what uses it", "192.0.2.1:0": "choose an address of this machine",
	} {
		_, err := node.Listen(config.Address{Network: "tcp", Address: address}, 0)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", address, err, says)
		}
	}
	denied := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}
	for network, says := range map[string]string{"tcp": "a port above 1023", "unix": "a folder in which"} {
		if got := node.WhatToDo(denied, network); !strings.Contains(got, says) || strings.Contains(got, "stop") {
			t.Errorf("%s: %s, want %q", network, got, says)
		}
	}
}

func TestASocketThatAProcessHoldsWithoutListeningIsNotTaken(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // no other system says
	}
	path := filepath.Join(t.TempDir(), "socket")
	held, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(held, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Listen(socketAt(path), 0); err == nil || !strings.Contains(err.Error(), "does not listen on it") {
		t.Errorf("a socket that is about to be listened on: %v", err)
	}
	syscall.Close(held)
	ln, err := node.Listen(socketAt(path), 0)
	if err != nil {
		t.Fatalf("the socket of a process that has ended: %v", err)
	}
	ln.Close()
}
