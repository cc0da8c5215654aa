package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pgflurry/bench"
	"pgflurry/bench/charts"
)

// write puts results and charts into --out.
func (m *measurement) write(r *bench.Report, out io.Writer) error {
	if m.out == "" {
		return nil
	}
	if err := os.MkdirAll(m.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for name, write := range map[string]func(io.Writer) error{"results.md": r.WriteMarkdown, "results.json": r.WriteJSON} {
		file, err := os.Create(filepath.Join(m.out, name))
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	all, err := charts.Of(r)
	if err != nil {
		return err
	}
	for _, chart := range all {
		if err := chart.Save(m.out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nwritten: %s, and beside it results.json and %d charts, each as SVG and PNG\n", filepath.Join(m.out, "results.md"), len(all))
	return nil
}
