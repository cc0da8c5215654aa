//go:build !linux

package trial

import (
	"errors"
	"fmt"
	"time"
)

func processClock(pid int) (time.Duration, error) {
	return 0, fmt.Errorf("the processor time of process %d cannot be read: %w", pid, errors.ErrUnsupported)
}
