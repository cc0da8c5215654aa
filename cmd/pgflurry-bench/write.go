package main

import (
	"fmt"
	"io"

	"pgflurry/bench"
	"pgflurry/bench/charts"
)

// write puts results and charts into --out.
func (m *measurement) write(r *bench.Report, out io.Writer) error {
	if m.out == "" {
		return nil
	}
	if err := charts.WriteResults(r, m.out, out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
