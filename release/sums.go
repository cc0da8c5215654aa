package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// sums writes SHA256SUMS, which "sha256sum --check" reads.
func sums(out string) error {
	entries, err := os.ReadDir(out) // sorted
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), lines.Bytes(), 0o644)
}

func sortedByName(files []packed) []packed {
	return slices.SortedFunc(slices.Values(files), func(a, b packed) int { return cmp.Compare(a.name, b.name) })
}
