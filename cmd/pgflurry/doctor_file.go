package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pgflurry/internal/connect"
	"pgflurry/internal/doctor"
	"pgflurry/internal/fault"
)

// createLook makes the file of --before. It does not replace one: that may hold the only look before a failover.
func createLook(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fault.WithKind(fault.Usage, fault.WithHint(fmt.Errorf("--before: %s exists already", path),
			"Give another name, or remove it."))
	}
	if err != nil {
		return nil, fault.WithKind(fault.Usage, fmt.Errorf("--before: %w", err))
	}
	return file, nil
}

// writeLook writes a look into the file of --before, and closes it.
func writeLook(file *os.File, look doctor.Before) error {
	encoder := json.NewEncoder(file)
	encoder.SetIndent("", "  ")
	if err := errors.Join(encoder.Encode(look), file.Close()); err != nil {
		return fmt.Errorf("--before: %w", err)
	}
	return nil
}

// readLook reads the file of --after.
func readLook(path string) (doctor.Before, error) {
	var look doctor.Before
	text, err := connect.ReadFile(path, 1<<20)
	if err == nil {
		err = json.Unmarshal(text, &look)
	}
	if err == nil && look.Facts.Number == 0 {
		err = fmt.Errorf("%s has no look of \"pgflurry doctor --before\"", path)
	}
	if err != nil {
		return look, fault.WithKind(fault.Usage, fmt.Errorf("--after: %w", err))
	}
	return look, nil
}
