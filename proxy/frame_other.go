//go:build !unix

package proxy

// Where descriptors cannot be read without their net.Conn, an inbox keeps its buffer while it waits.
const canWaitWithoutBuffer = false

func (in *inbox) readReady(uintptr) bool { return true }
