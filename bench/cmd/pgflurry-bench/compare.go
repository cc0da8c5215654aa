package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"pgflurry/bench/report"
)

// readOlder reads the run that --compare names, before anything starts.
func (m *measurement) readOlder(kind string) error {
	if m.compare == "" {
		return nil
	}
	content, err := os.ReadFile(m.compare)
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	older := new(report.Report)
	if err := json.Unmarshal(content, older); err != nil {
		return fmt.Errorf("--compare: %s is no results.json of pgflurry-bench: %w", m.compare, err)
	}
	if older.Kind != kind {
		return fmt.Errorf("--compare: %s is of kind %q; expected %q, a run of the same command",
			m.compare, older.Kind, kind)
	}
	m.older = older
	return nil
}

// writeChanges says what changed since the older run, if there is one.
func (m *measurement) writeChanges(r *report.Report, out io.Writer) error {
	if m.older == nil {
		return nil
	}
	comparison, err := report.Compare(m.older, r)
	if err != nil {
		return err
	}
	return comparison.Write(out, m.compare)
}
